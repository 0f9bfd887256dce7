#include "syscall-map/stubs/stub.hpp"

#include "syscall-map/stubs/stub_pattern.hpp"

namespace coldtrace::syscall_map {

struct StubShape {
  enum class Maker : u8 { microsoft, wine };
  enum class HighWord : u8 { zero, turbo_thunk };

  std::string_view id;
  pe::Machine machine;
  Maker maker;
  StubPlace place;
  bool verified;
  HighWord high_word;
  StubPattern pattern;
};

namespace {

using Maker = StubShape::Maker;
using HighWord = StubShape::HighWord;

constexpr StubShape shapes[] = {
#define SHAPE(id, machine, maker, place, verified, high_word, pattern) \
  {id,       pe::Machine::machine, Maker::maker, StubPlace::place,     \
   verified, HighWord::high_word,  pattern},
#include "syscall-map/stubs/stub_shapes.inc"
#undef SHAPE
};

std::optional<Stub> decode_pattern(const StubShape& shape, core::ByteView code,
                                   const pe::Image& image, pe::Rva rva) {
  const auto match = shape.pattern.match(code);
  if (!match) return std::nullopt;
  if (shape.high_word == HighWord::zero && match->immediate > 0xffff) return std::nullopt;
  Stub stub{.shape = shape.id,
            .place = shape.place,
            .verified = shape.verified,
            .number = static_cast<u16>(match->immediate & 0xffff),
            .raw_immediate = match->immediate,
            .argument_bytes = match->argument_bytes,
            .length = match->length,
            .gate = std::nullopt};
  if (match->address_at != 0) {
    // The thunk is code of the image, else the bytes only look alike.
    stub.gate = image.rva_of_address(match->address);
    if (image.layout() == pe::Layout::file && !stub.gate) return std::nullopt;
  } else if (match->displacement_target != 0) {
    const i64 target = static_cast<i64>(value(rva)) + match->displacement_target;
    if (target < 0 || target >= static_cast<i64>(image.optional_header().size_of_image))
      return std::nullopt;
    stub.gate = pe::Rva{static_cast<u32>(target)};
  }
  return stub;
}

// svc #n; ret. Source: Arm Architecture Reference Manual, A64 SVC: the opcode has the number in
// bits 5 to 20, all others are fixed.
std::optional<Stub> decode_arm64(core::ByteView code) {
  const auto call = core::load<u32>(code, 0);
  const auto back = core::load<u32>(code, 4);
  if (!call || (*call & 0xffe0'001f) != 0xd400'0001 || back != 0xd65f'03c0) return std::nullopt;
  const u32 number = *call >> 5 & 0xffff;
  return Stub{"arm64-svc", StubPlace::user, false, static_cast<u16>(number),
              number,      std::nullopt,    8,     std::nullopt};
}

// The immediate of "movw r12, #n" (T3) or "mov.w r12, #n" below 256 (T2).
// Source: Arm Architecture Reference Manual ARMv7-A, MOV (immediate).
std::optional<u32> decode_thumb_move_r12(u16 first, u16 second) {
  const u32 low = second & 0xffU;
  const u32 imm3 = second >> 12 & 7U;
  const u32 i = first >> 10 & 1U;
  if ((second & 0x8f00) != 0x0c00) return std::nullopt;
  if ((first & 0xfbf0) == 0xf240) return (first & 0xfU) << 12 | i << 11 | imm3 << 8 | low;
  if (first == 0xf04f && imm3 == 0) return low;
  return std::nullopt;
}

// mov r12, #n; svc #1; bx lr, in Thumb.
std::optional<Stub> decode_arm32(core::ByteView code) {
  const auto first = core::load<u16>(code, 0);
  const auto second = core::load<u16>(code, 2);
  if (!first || !second || core::load<u32>(code, 4) != 0x4770'df01) return std::nullopt;
  const auto number = decode_thumb_move_r12(*first, *second);
  if (!number) return std::nullopt;
  return Stub{"arm32-svc", StubPlace::user, false, static_cast<u16>(*number),
              *number,     std::nullopt,    8,     std::nullopt};
}

}  // namespace

StubDecoder::StubDecoder(const pe::Image& image, bool wine)
    : image_{image}, sections_{image}, code_{image} {
  for (const auto& shape : shapes)
    if (shape.machine == image.machine() && (shape.maker == Maker::wine) == wine)
      shapes_.push_back(&shape);
}

std::optional<Stub> StubDecoder::decode(pe::Rva rva) {
  const auto* section = sections_.find(rva);
  if (!section || !section->executable()) return std::nullopt;
  switch (image_.machine()) {
    case pe::Machine::arm64:
      return decode_arm64(code_.bytes(rva, 8));
    case pe::Machine::arm:
    case pe::Machine::armnt:
      return decode_arm32(code_.bytes(rva, 8));
    default:
      break;
  }
  const auto first = core::load<u32>(code_.bytes(rva, 4), 0);
  if (!first) return std::nullopt;
  for (const auto* shape : shapes_)
    if (shape->pattern.suits(*first))
      if (auto stub = decode_pattern(*shape, code_.bytes(rva, longest_stub), image_, rva))
        return stub;
  return std::nullopt;
}

Service to_service(const pe::Image& image, pe::Rva rva, const Stub& stub, std::string evidence) {
  Service service;
  service.number = stub.number;
  service.table = table_of(stub.number);
  service.rva = rva;
  service.file_offset = image.addresses().to_offset(rva);
  service.argument_bytes = stub.argument_bytes;
  service.shape = stub.shape;
  service.kernel_stub = stub.place == StubPlace::kernel;
  service.raw_immediate = stub.raw_immediate;
  service.verified = stub.verified;
  service.evidence.push_back(std::move(evidence));
  return service;
}

}  // namespace coldtrace::syscall_map
