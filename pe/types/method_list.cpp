#include "pe/types/method_list.hpp"

namespace coldtrace::pe {

std::optional<std::vector<Field>> read_method_list(core::ByteView record) {
  constexpr u16 kind_method_list = 0x1206;
  constexpr u64 smallest = 8;
  core::Reader in{record, "LF_METHODLIST", 0};
  in.expect<u16>(kind_method_list, "kind", core::Fault::unsupported);
  std::vector<Field> methods;
  while (in.ok() && in.remaining() >= smallest) {
    Field method;
    method.kind = Field::Kind::method;
    method.attributes = in.read_u16("attr");
    in.skip(2, "pad0");
    method.type = in.read_u32("index");
    if (introduces_virtual(method.attributes)) method.value = in.read_u32("vbaseoff");
    methods.push_back(method);
  }
  if (!in.ok()) return std::nullopt;
  return methods;
}

}  // namespace coldtrace::pe
