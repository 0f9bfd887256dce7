#include "coldtrace/pdb/pdb_annotations.hpp"

#include <algorithm>
#include <vector>

#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/pdb_modules.hpp"

namespace coldtrace::pe {
namespace {

constexpr u16 s_annotation = 0x1019;
constexpr std::size_t texts_at = 10;  // behind kind, offset, section and count

void read_texts(core::ByteView record, std::vector<std::string_view>& texts) {
  texts.clear();
  const auto count = core::load<u16>(record, 8).value_or(0);
  auto rest = record.subspan(std::min(record.size(), texts_at));
  for (u16 i = 0; i < count; ++i) {
    const auto text = core::read_c_string(rest, rest.size());
    if (!text) return;
    texts.push_back(*text);
    rest = rest.subspan(text->size() + 1);
  }
}

}  // namespace

void visit_annotations(const Pdb& pdb, core::Findings& findings,
                       const std::function<void(const Annotation&)>& take) {
  ModuleSymbols symbols{pdb, findings};
  std::vector<std::string_view> texts;
  while (symbols.next_module())
    for (core::ByteView record; symbols.next(record);) {
      if (core::load<u16>(record, 0) != s_annotation) continue;
      read_texts(record, texts);
      if (!texts.empty())
        take({texts, core::load<u16>(record, 6).value_or(0), core::load<u32>(record, 2).value_or(0),
              symbols.module().name});
    }
}

}  // namespace coldtrace::pe
