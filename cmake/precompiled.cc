// SPDX-License-Identifier: Apache-2.0
// The source that the precompiled headers' targets are made of; it says nothing.
