#include "coldtrace/pe/dumped_pointers.hpp"

#include <algorithm>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/pe/expected_bytes.hpp"
#include "coldtrace/pe/export_directory.hpp"
#include "coldtrace/pe/load_config.hpp"
#include "pe/dump/nearness.hpp"

namespace coldtrace::pe {
namespace {

constexpr u16 native_subsystem = 1;

// Modules whose functions the loader writes into others.
// Source: Microsoft, "Control Flow Guard for platform security"; names of kernels observed.
bool is_provider(std::string_view name, bool native) {
  const auto lower = core::to_lower(name.substr(name.find_last_of("\\/") + 1));
  if (!native) return lower == "ntdll.dll";
  return lower.starts_with("ntoskrnl") || lower.starts_with("ntkr") || lower == "securekernel.exe";
}

class Pointers {
 public:
  Pointers(const ImageTables& file, const ModuleDump& dump, const std::vector<KnownModule>& known,
           const std::vector<u64>& imported)
      : image_{file.image()},
        dump_{dump},
        expected_{file, dump.base()},
        known_{known},
        imported_{imported},
        native_{image_.optional_header().subsystem == native_subsystem} {}

  std::vector<MisdirectedPointer> read() {
    std::vector<MisdirectedPointer> found;
    const auto config = read_load_config(image_);
    if (!config || !*config) return found;
    for (const auto& pointer : (*config)->loader_pointers) {
      if (pointer.name == "CastGuardOsDeterminedFailureMode") continue;  // a number
      const auto slot = image_.rva_of_address(pointer.address);
      const auto address = slot ? dump_.pointer(*slot) : std::nullopt;
      if (!address) continue;
      if (const auto fault = fault_of(pointer.name, *address, expected_.load_pointer(*slot)))
        found.push_back({pointer.name, *slot, *address, *fault});
    }
    return found;
  }

 private:
  std::optional<SlotFault> fault_of(std::string_view name, u64 address, u64 filed) const {
    if (address == filed) return std::nullopt;
    if (address == 0) return SlotFault::zero;
    if (const auto rva = dump_.rva_of_address(address)) {
      // Which of its own copies a module uses is not known to be the loader's alone to say.
      const bool may_be_own =
          name == "GuardMemcpyFunctionPointer" || is_provider(read_module_name(image_), native_);
      if (may_be_own && image_.is_executable(*rva)) return std::nullopt;
      return SlotFault::inside;
    }
    const auto holds = [&](const KnownModule& module) { return module.contains(address); };
    if (const auto module = std::ranges::find_if(known_, holds); module != known_.end())
      return is_provider(module->name, native_) ? std::nullopt : std::optional{SlotFault::other};
    if (std::ranges::any_of(known_,
                            [&](const auto& one) { return is_provider(one.name, native_); }))
      return SlotFault::outside;
    if (imported_.empty() || count_near(imported_, address, image_) > 0) return std::nullopt;
    return SlotFault::alone;
  }

  const Image& image_;
  const ModuleDump& dump_;
  ExpectedBytes expected_;
  const std::vector<KnownModule>& known_;
  const std::vector<u64>& imported_;
  bool native_;
};

}  // namespace

std::vector<MisdirectedPointer> read_dumped_pointers(const ImageTables& file,
                                                     const ModuleDump& dump,
                                                     const std::vector<KnownModule>& known,
                                                     const std::vector<u64>& imported) {
  return Pointers{file, dump, known, imported}.read();
}

}  // namespace coldtrace::pe
