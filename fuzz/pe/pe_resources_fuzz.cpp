// Any bytes as the resource section of a valid image, and as a version resource and a message
// table: no crash, no hang, and no byte of the input is listed twice.

#include "fixtures/builders/pe_image.hpp"
#include "fuzz/pe/pe_read_everything.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  const core::ByteView input = std::as_bytes(std::span{data, size});
  fixtures::PeSpec spec;
  spec.sections[0] = {".rsrc", 0x4000'0040, {input.begin(), input.end()}, {}, {}, {}, {}};
  spec.directories = {{2, {0x1000, static_cast<u32>(size)}}};
  const auto built = fixtures::build_pe(spec);
  core::Findings findings;
  const auto image = pe::Image::open(built.view(), pe::Layout::file, findings);
  if (!image) __builtin_trap();
  const auto totals = fuzz::read_resource_contents(*image, findings);
  const u64 stored = size + spec.file_alignment;
  if (totals.resources > stored / 8) __builtin_trap();

  u64 text = 0;
  const auto messages = pe::read_message_table(input, 0, findings);
  for (const auto& message : messages) text += message.bytes.size();
  if (text > size || messages.size() > size / 4) __builtin_trap();
  u64 strings = 0;
  for (const auto& string : pe::read_version_info(input, 0, findings).strings)
    strings += string.key.size() + string.value.size();
  if (strings > 2 * u64{size}) __builtin_trap();
  return 0;
}
