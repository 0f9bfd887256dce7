// A PE image behind four bytes with the RVA of a function in it: the signature that is derived, if
// any, can be read back, and finds that place alone.

#include <cstdint>
#include <span>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/signatures/signature_parser.hpp"
#include "coldtrace/signatures/signature_printer.hpp"
#include "coldtrace/syscall-map/signatures/signature_derivation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coldtrace;
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto rva = core::load<u32>(bytes, 0);
  if (!rva) return 0;
  core::Findings findings;
  const auto image = pe::Image::open(bytes.subspan(4), pe::Layout::file, findings);
  if (!image) return 0;
  const syscall_map::DerivationInput input{&*image, "it", pe::Rva{*rva}};
  const auto derivation = syscall_map::derive_signature("F", {&input, 1}, 1);
  if (derivation.signature.has_value() == !derivation.reason.empty()) __builtin_trap();
  if (!derivation.signature) return 0;
  const auto read = syscall_map::parse_signatures(to_text(*derivation.signature));
  if (!read || read->front() != *derivation.signature) __builtin_trap();
  const auto& place = derivation.places.at(0);
  if (place.matches != 1 || value(place.rva) != *rva || place.shorter_matches == 0)
    __builtin_trap();
  return 0;
}
