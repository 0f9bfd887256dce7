#include "cli/servicing/serviced_pair.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/images/symbol_file.hpp"

namespace coldtrace::cli {
namespace {

// Without hashes the bytes themselves tell.
bool have_same_bytes(const PeInput& before, const PeInput& after) {
  constexpr u64 step = u64{1} << 20;
  const core::FileView old_file{*before.file};
  const core::FileView new_file{*after.file};
  if (old_file.size() != new_file.size()) return false;
  for (u64 at = 0; at < old_file.size(); at += step) {
    const auto length = std::min(step, old_file.size() - at);
    const auto old_bytes = old_file.slice(at, length);
    const auto new_bytes = new_file.slice(at, length);
    if (!old_bytes || !new_bytes || !std::ranges::equal(*old_bytes, *new_bytes)) return false;
  }
  return true;
}

std::unique_ptr<ServicedTypes> compare_types(const ServicedPair& pair, ComparedPair& compared) {
  if (pair.pdb_before.empty() || pair.pdb_after.empty()) return nullptr;
  std::string why;
  auto before = open_type_file(pair.pdb_before, why);
  if (!before) {
    compared.before.warning("symbols-unreadable", std::nullopt, "{}: {}", pair.pdb_before, why);
    return nullptr;
  }
  auto after = open_type_file(pair.pdb_after, why);
  if (!after) {
    compared.after.warning("symbols-unreadable", std::nullopt, "{}: {}", pair.pdb_after, why);
    return nullptr;
  }
  if (before->table.count() == 0 || after->table.count() == 0) {
    if (after->table.count() > 0) pe::note_unproved_types(*before, "added");
    if (before->table.count() > 0) pe::note_unproved_types(*after, "removed");
    compared.before.merge(before->findings);
    compared.after.merge(after->findings);
    return nullptr;
  }
  auto types =
      std::make_unique<ServicedTypes>(ServicedTypes{std::move(*before), std::move(*after), {}});
  types->compared = compare_type_files(types->before, types->after, {});
  compared.before.merge(types->before.findings);
  compared.after.merge(types->after.findings);
  return types;
}

}  // namespace

ComparedPair compare_serviced_pair(const ServicedPair& pair, const ServicedSide& before,
                                   const ServicedSide& after, const ServicingOptions& options) {
  ComparedPair compared;
  if (!pair.modules.before || !pair.modules.after) return compared;
  const auto& old_module = before.modules[*pair.modules.before];
  const auto& new_module = after.modules[*pair.modules.after];
  const auto& old_hash = before.files[*pair.modules.before].sha256;
  const auto& new_hash = after.files[*pair.modules.after].sha256;
  compared.same = old_hash && old_hash == new_hash;
  if (compared.same) return compared;
  std::string why;
  auto old_input = open_pe(old_module.path, options, why);
  if (!old_input) {
    compared.failed = fmt::format("{}: {}", old_module.path, why);
    return compared;
  }
  auto new_input = open_pe(new_module.path, options, why);
  if (!new_input) {
    compared.failed = fmt::format("{}: {}", new_module.path, why);
    return compared;
  }
  compared.same = !(old_hash && new_hash) && have_same_bytes(*old_input, *new_input);
  if (compared.same) return compared;
  const syscall_map::KernelView old_view{old_input->image};
  const syscall_map::KernelView new_view{new_input->image};
  compared.tables = syscall_map::compare_modules(
      old_view, new_view, old_module.role == new_module.role ? new_module.role : std::nullopt);
  compared.before = std::move(compared.tables->before);
  compared.after = std::move(compared.tables->after);
  compared.before.merge_unknown(old_input->findings());
  compared.after.merge_unknown(new_input->findings());
  compared.providers = schema_files::compare_providers(old_module.path, new_module.path,
                                                       compared.before, compared.after);
  compared.types = compare_types(pair, compared);
  return compared;
}

}  // namespace coldtrace::cli
