#include "coldtrace/pe/import_resolver.hpp"

#include <algorithm>
#include <charconv>

#include "coldtrace/core/ascii.hpp"
#include "pe/image/dll_name.hpp"

namespace coldtrace::pe {
namespace {

// Real ones are up to three: an API set's own DLL, kernel32, kernelbase.
constexpr std::size_t most_forwarders = 16;
constexpr u32 no_target = ~u32{0};

struct ForwarderText {
  std::string_view dll;
  std::string_view name;
  std::optional<u32> ordinal;
};

// "NTDLL.RtlAllocateHeap" or "NTDLL.#12". Source: Microsoft, "PE Format", export address table.
// The DLL's name may have dots of its own.
std::optional<ForwarderText> parse_forwarder(std::string_view text) {
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) return std::nullopt;
  ForwarderText forwarder{text.substr(0, dot), text.substr(dot + 1), std::nullopt};
  if (forwarder.name.front() != '#') return forwarder;
  const auto digits = forwarder.name.substr(1);
  u32 ordinal = 0;
  const auto* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, ordinal);
  if (error != std::errc{} || stop != end || ordinal > 0xffff) return std::nullopt;
  forwarder.name = {};
  forwarder.ordinal = ordinal;
  return forwarder;
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::resolved:
      return "resolved";
    case Outcome::no_name:
      return "no_name";
    case Outcome::no_module:
      return "no_module";
    case Outcome::other_machine:
      return "other_machine";
    case Outcome::no_function:
      return "no_function";
    case Outcome::api_set_no_schema:
      return "api_set_no_schema";
    case Outcome::api_set_unknown:
      return "api_set_unknown";
    case Outcome::api_set_no_host:
      return "api_set_no_host";
    case Outcome::forwarder_unreadable:
      return "forwarder_unreadable";
    case Outcome::forwarder_loop:
      return "forwarder_loop";
    case Outcome::forwarder_limit:
      return "forwarder_limit";
  }
  return "resolved";
}

ImportResolver::ImportResolver(core::BorrowedSpan<const ModuleTables*> modules,
                               const ApiSetSchema* schema)
    : modules_{modules.get()}, schema_{schema}, target_of_export_(modules_.size()) {
  for (u32 i = 0; i < modules_.size(); ++i) by_name_.emplace(core::to_lower(modules_[i]->name), i);
}

LocatedModule ImportResolver::locate(std::string_view dll, u32 importer) const {
  LocatedModule located;
  if (dll.empty()) {
    located.outcome = Outcome::no_name;
    return located;
  }
  located.dll = dll_file_name(dll);
  const bool is_api_set = is_api_set_name(located.dll);
  auto absent = Outcome::no_module;
  if (is_api_set && !schema_) absent = Outcome::api_set_no_schema;
  if (is_api_set && schema_) {
    switch (schema_->find(located.dll, modules_[importer]->name, located.api_set_host)) {
      case ApiSetAnswer::host:
        located.dll = dll_file_name(located.api_set_host);
        break;
      case ApiSetAnswer::no_host:
        located.outcome = Outcome::api_set_no_host;
        return located;
      case ApiSetAnswer::unknown:
        absent = Outcome::api_set_unknown;
        break;
    }
  }
  const auto found = by_name_.find(located.dll);
  if (found == by_name_.end()) {
    located.outcome = absent;
    return located;
  }
  located.module = found->second;
  if (modules_[found->second]->machine != modules_[importer]->machine)
    located.outcome = Outcome::other_machine;
  return located;
}

std::optional<u32> ImportResolver::find_export(u32 module, const Wanted& wanted) const {
  const auto& tables = *modules_[module];
  return wanted.has_name() ? tables.find_export(wanted.name) : tables.find_export(wanted.ordinal);
}

u32 ImportResolver::add_unresolved(Outcome outcome, const LocatedModule& where,
                                   const Wanted& wanted) {
  const auto dll = keep(where.dll);
  std::optional<u32> ordinal;
  if (!wanted.has_name() && outcome != Outcome::no_name) ordinal = wanted.ordinal;
  const auto [entry, added] = unresolved_.try_emplace({outcome, dll, wanted.name, ordinal},
                                                      static_cast<u32>(targets_.size()));
  if (added) {
    ImportTarget target;
    target.outcome = outcome;
    target.module = where.module;
    target.dll = dll;
    target.name = wanted.name;
    target.ordinal = ordinal;
    targets_.push_back(std::move(target));
  }
  return entry->second;
}

std::string_view ImportResolver::keep(std::string_view text) {
  if (text.empty()) return {};
  const auto known = texts_.find(text);
  return known == texts_.end() ? *texts_.emplace(text).first : *known;
}

ImportTarget ImportResolver::follow_forwarders(u32 module, u32 exported) {
  ImportTarget target;
  for (;;) {
    const auto& entry = modules_[module]->exports[exported];
    target.module = module;
    target.dll = keep(core::to_lower(modules_[module]->name));
    target.name = entry.name;
    target.ordinal = entry.ordinal;
    if (!entry.is_forwarder) {
      target.address = entry.address;
      return target;
    }
    const auto stop = [&](Outcome outcome) {
      target.outcome = outcome;
      return std::move(target);
    };
    const auto& steps = target.forwarders;
    if (std::any_of(steps.begin(), steps.end(), [&](const ForwarderStep& step) {
          return step.module == module && step.exported == exported;
        }))
      return stop(Outcome::forwarder_loop);
    if (steps.size() == most_forwarders) return stop(Outcome::forwarder_limit);
    target.forwarders.push_back({module, exported, {}});

    const auto forwarder = parse_forwarder(entry.forwarder);
    if (!forwarder) return stop(Outcome::forwarder_unreadable);
    const auto located = locate(forwarder->dll, module);
    target.forwarders.back().api_set_host = keep(located.api_set_host);
    target.module = located.module;
    target.dll = keep(located.dll);
    target.name = forwarder->name;
    target.ordinal = forwarder->ordinal;
    if (located.outcome != Outcome::resolved) return stop(located.outcome);
    module = *located.module;
    const auto next = find_export(module, {forwarder->name, forwarder->ordinal.value_or(0)});
    if (!next) return stop(Outcome::no_function);
    exported = *next;
  }
}

u32 ImportResolver::follow(u32 module, u32 exported) {
  auto& known = target_of_export_[module];
  if (known.empty()) known.assign(modules_[module]->exports.size(), no_target);
  if (known[exported] == no_target) {
    known[exported] = static_cast<u32>(targets_.size());
    targets_.push_back(follow_forwarders(module, exported));
  }
  return known[exported];
}

std::vector<ResolvedSlot> ImportResolver::resolve(u32 module) {
  const auto& tables = *modules_[module];
  std::vector<LocatedModule> dlls;
  dlls.reserve(tables.dlls.size());
  for (const auto& dll : tables.dlls) dlls.push_back(locate(dll.name, module));
  std::vector<ResolvedSlot> resolved;
  resolved.reserve(tables.slots.size());
  for (u32 i = 0; i < tables.slots.size(); ++i) {
    const auto& slot = tables.slots[i];
    const auto& where = dlls[slot.dll];
    const Wanted wanted{slot.name, slot.ordinal};
    ResolvedSlot result{module, i, 0, where.module, std::nullopt, keep(where.api_set_host)};
    auto outcome = where.outcome;
    if (!slot.by_ordinal && !slot.has_name()) outcome = Outcome::no_name;
    if (outcome == Outcome::resolved) {
      result.exported = find_export(*where.module, wanted);
      if (!result.exported) outcome = Outcome::no_function;
    }
    result.target = outcome == Outcome::resolved ? follow(*where.module, *result.exported)
                                                 : add_unresolved(outcome, where, wanted);
    resolved.push_back(result);
  }
  return resolved;
}

}  // namespace coldtrace::pe
