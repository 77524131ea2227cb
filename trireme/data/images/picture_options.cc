// SPDX-License-Identifier: Apache-2.0
// Options of pictures: size, colours, which way up.
#include "trireme/data/images/picture_options.h"

#include "trireme/base/error.h"

namespace trireme::data {

void describe(PictureOptions& o, OptionVisitor& visit) {
  visit("height", o.height, "of the samples; images of another size are resized; 0: that of all images", 0, 1 << 13);
  visit("width", o.width, "of the samples; goes with height", 0, 1 << 13);
  visit("channels", o.channels, "1 (grey) or 3 (colour), others are converted; 0: those of all images", 0, 3);
  describe_fit(o, visit);
}

void describe_fit(PictureOptions& o, OptionVisitor& visit) {
  visit("fit", o.fit, "how an image of another shape is resized: stretched, or its middle cropped", {"stretch", "crop"});
  visit("orientation", o.orientation, "turn photographs upright, as their EXIF data say");
}

ImageFit fit_of(const PictureOptions& o) {
  return {.height = o.height, .width = o.width, .channels = o.channels, .crop = o.fit == "crop", .orientation = o.orientation};
}

void check_options(const PictureOptions& options, std::string_view reader) {
  if ((options.height == 0) != (options.width == 0))
    throw Error{invalid_argument, "{}: height is {} and width is {}; give both or neither", reader, options.height, options.width};
  if (options.channels == 2) throw Error{invalid_argument, "{}: channels is 2; 1 (grey) and 3 (colour) are possible", reader};
}

std::string resize_advice(const Shape& shape) {
  return fmt::format(
      "; all samples must have one size: write data.height = {}, data.width = {} and data.channels = {} (or others), and every picture is "
      "converted",
      shape[1], shape[2], shape[0]);
}

void describe(PictureFileOptions& o, OptionVisitor& visit) {
  describe(o.picture, visit);
  visit("verify", o.verify,
        "decode every picture when the folder is opened, with all cores; otherwise only header and end are looked at, and a picture that "
        "is damaged in its middle ends the training when it is read");
  visit("on_damage", o.on_damage, "what to do with a damaged picture: refuse the folder or leave the picture out", {"fail", "skip"});
}

}  // namespace trireme::data
