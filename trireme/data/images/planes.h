// SPDX-License-Identifier: Apache-2.0
// The two orders of an image: all channels of a pixel together, as files have it, and one plane a channel, as samples have it.
#pragma once

#include <cstddef>
#include <span>

namespace trireme::data {

template <class T>
void planes_of(std::span<const T> interleaved, std::size_t channels, std::span<T> planes) {
  const std::size_t pixels = interleaved.size() / channels;
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t p = 0; p < pixels; ++p) planes[c * pixels + p] = interleaved[p * channels + c];
}

template <class T>
void interleave(std::span<const T> planes, std::size_t channels, std::span<T> interleaved) {
  const std::size_t pixels = planes.size() / channels;
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t p = 0; p < pixels; ++p) interleaved[p * channels + c] = planes[c * pixels + p];
}

}  // namespace trireme::data
