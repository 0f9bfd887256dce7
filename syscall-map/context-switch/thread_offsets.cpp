#include "coldtrace/syscall-map/thread_offsets.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "coldtrace/core/unreadable.hpp"
#include "syscall-map/code/accessor.hpp"
#include "syscall-map/code/kernel_code.hpp"

namespace coldtrace::syscall_map {
namespace {

enum class Field : u8 {
  current_thread,
  initial_stack,
  attached_process,
  own_process,
  client_process,
  client_thread,
  process_id,
  parent_id,
  image_name,
};

// How an accessor comes to the structure that it reads.
enum class Route : u8 { argument, current_thread, control_region, neighbour, types };

constexpr std::array all_fields{
    Field::current_thread, Field::initial_stack,  Field::attached_process,
    Field::own_process,    Field::client_process, Field::client_thread,
    Field::process_id,     Field::parent_id,      Field::image_name};

struct Accessor {
  const char* name;
  Route route;
  Field field;
};

// Source of what they return: Windows Research Kernel, ps/ and ke/; WDK documentation.
constexpr Accessor accessors[] = {
    {"KeGetCurrentThread", Route::control_region, Field::current_thread},
    {"PsGetCurrentThread", Route::control_region, Field::current_thread},
    {"IoGetInitialStack", Route::current_thread, Field::initial_stack},
    {"IoGetCurrentProcess", Route::current_thread, Field::attached_process},
    {"PsGetCurrentProcess", Route::current_thread, Field::attached_process},
    {"PsGetCurrentThreadProcess", Route::current_thread, Field::own_process},
    {"IoThreadToProcess", Route::argument, Field::own_process},
    {"PsGetThreadProcess", Route::argument, Field::own_process},
    {"PsGetThreadProcessId", Route::argument, Field::client_process},
    {"PsGetCurrentProcessId", Route::current_thread, Field::client_process},
    {"PsGetCurrentThreadProcessId", Route::current_thread, Field::client_process},
    {"PsGetThreadId", Route::argument, Field::client_thread},
    {"PsGetCurrentThreadId", Route::current_thread, Field::client_thread},
    {"PsGetProcessId", Route::argument, Field::process_id},
    {"PsGetProcessInheritedFromUniqueProcessId", Route::argument, Field::parent_id},
    {"PsGetProcessImageFileName", Route::argument, Field::image_name},
};

struct Evidence {
  Route route;
  pe::Rva function;  // two names of one function prove no more than one
  std::string sentence;
};

using Claims = std::map<Field, std::map<u32, std::vector<Evidence>>>;

struct FieldName {
  std::string_view structure;
  std::string_view field;
};

FieldName to_name(Field field, const KernelCode& code) {
  const auto& version = code.version();
  switch (field) {
    case Field::current_thread:
      return {"_KPCR", code.is_x64() ? "Prcb.CurrentThread" : "PrcbData.CurrentThread"};
    case Field::initial_stack:
      return {"_KTHREAD", "InitialStack"};
    case Field::attached_process:
      return {"_KTHREAD", "ApcState.Process"};
    case Field::own_process:
      // Since Vista the kernel's own part of the thread has it.
      if (version && (*version)[0] < 6) return {"_ETHREAD", "ThreadsProcess"};
      return {"_KTHREAD", "Process"};
    case Field::client_process:
      return {"_ETHREAD", "Cid.UniqueProcess"};
    case Field::client_thread:
      return {"_ETHREAD", "Cid.UniqueThread"};
    case Field::process_id:
      return {"_EPROCESS", "UniqueProcessId"};
    case Field::parent_id:
      return {"_EPROCESS", "InheritedFromUniqueProcessId"};
    case Field::image_name:
      return {"_EPROCESS", "ImageFileName"};
  }
  return {"", ""};
}

class Finder {
 public:
  explicit Finder(const pe::ImageTables& tables)
      : image_{tables.image()}, code_{tables, {}}, disassembler_{image_} {}

  ThreadOffsets find(const std::vector<KnownOffset>& types) {
    for (const auto& accessor : accessors) read(accessor);
    for (const auto field : all_fields) add_types(field, types);
    add_neighbours();
    for (const auto& [field, offsets] : claims_) add(field, offsets);
    std::sort(result_.fields.begin(), result_.fields.end(), [](const auto& a, const auto& b) {
      return std::tie(a.structure, a.offset, a.field) < std::tie(b.structure, b.offset, b.field);
    });
    tell_missing();
    return std::move(result_);
  }

 private:
  void read(const Accessor& accessor) {
    const auto rva = code_.find_export(accessor.name);
    if (!rva) return;
    const auto value = read_accessor(image_, disassembler_, *rva);
    if (!value || !claim(accessor, *rva, *value))
      result_.findings.info("accessor-not-understood", image_.addresses().to_offset(*rva),
                            "exported {} does more than read a field", accessor.name);
  }

  // Whether what the accessor returns has the form that its name promises.
  bool claim(const Accessor& accessor, pe::Rva rva, const AccessorValue& value) {
    const bool address = accessor.field == Field::image_name;
    const auto expected = accessor.route == Route::argument ? AccessorValue::Start::argument
                                                            : AccessorValue::Start::control_region;
    if (value.start != expected || value.address != address || value.way.empty()) return false;
    const auto last = value.way.back();
    const auto count = value.way.size();
    const auto how = value.through_call ? ", through another function" : "";
    switch (accessor.route) {
      case Route::control_region:
        if (count != 1) return false;
        add(accessor.field, last, Route::control_region, rva,
            fmt::format("{} reads the control region at {:#x}{}", accessor.name, last, how));
        return true;
      case Route::current_thread:
        // The control region, at most one pointer from there to the processor block, the thread.
        if (count != 2 && count != 3) return false;
        if (count == 2)
          add(Field::current_thread, value.way.front(), Route::current_thread, rva,
              fmt::format("{} reaches the thread through {:#x} of the control region",
                          accessor.name, value.way.front()));
        add(accessor.field, last, Route::current_thread, rva,
            fmt::format("{} reads the current thread at {:#x}{}", accessor.name, last, how));
        return true;
      default:
        if (count == 1) {
          add(accessor.field, last, Route::argument, rva,
              fmt::format("{} {} its argument at {:#x}{}", accessor.name,
                          address ? "returns the address in" : "reads", last, how));
          return true;
        }
        if (accessor.field != Field::client_process || count != 2) return false;
        add(Field::own_process, value.way[0], Route::argument, rva,
            fmt::format("{} reaches the process through {:#x} of its argument", accessor.name,
                        value.way[0]));
        add(Field::process_id, last, Route::neighbour, rva,
            fmt::format("{} reads that process at {:#x}{}", accessor.name, last, how));
        return true;
    }
  }

  void add(Field field, u32 offset, Route route, pe::Rva function, std::string sentence) {
    claims_[field][offset].push_back({route, function, std::move(sentence)});
  }

  void add_types(Field field, const std::vector<KnownOffset>& types) {
    const auto name = to_name(field, code_);
    for (const auto& type : types)
      if (type.structure == name.structure && type.field == name.field)
        claims_[field][type.offset].push_back({Route::types, {}, "the PDB's types have it here"});
  }

  // CLIENT_ID is two pointers: the process's identifier, then the thread's.
  void add_neighbours() {
    const auto process = claims_.find(Field::client_process);
    const auto thread = claims_.find(Field::client_thread);
    if (process == claims_.end() || thread == claims_.end()) return;
    const auto size = image_.optional_header().pointer_size();
    for (auto& [offset, evidence] : process->second) {
      const auto behind = thread->second.find(offset + size);
      if (behind == thread->second.end()) continue;
      evidence.push_back(
          {Route::neighbour, {}, "the thread's identifier follows, as in CLIENT_ID"});
      behind->second.push_back(
          {Route::neighbour, {}, "the process's identifier comes before, as in CLIENT_ID"});
    }
  }

  void add(Field field, const std::map<u32, std::vector<Evidence>>& offsets) {
    const auto name = to_name(field, code_);
    if (offsets.size() > 1)
      result_.findings.warning(
          "accessor-contradiction",
          image_.addresses().to_offset(offsets.begin()->second.front().function),
          "exported functions, or they and the PDB, put {}.{} at {} different offsets",
          name.structure, name.field, offsets.size());
    for (const auto& [offset, evidence] : offsets) {
      FieldOffset found;
      found.structure = name.structure;
      found.field = name.field;
      found.offset = offset;
      std::set<Route> routes;
      std::set<pe::Rva> functions;
      for (const auto& piece : evidence) {
        routes.insert(piece.route);
        functions.insert(piece.function);
        found.evidence.push_back(piece.sentence);
      }
      const bool contradicted = offsets.size() > 1;
      const auto sources = std::max(functions.size(), routes.size());
      // The types of the PDB whose GUID and age the image asks for are the compiler's own word.
      found.confidence = contradicted                    ? Confidence::low
                         : routes.contains(Route::types) ? Confidence::high
                         : sources < 2                   ? Confidence::low
                         : routes.size() < 2             ? Confidence::medium
                                                         : Confidence::high;
      // The shapes of these kernels' accessors were seen: XP and 2003 on x86.
      if (const auto& version = code_.version(); version && !code_.is_x64())
        found.verified = (*version)[0] == 5 && (*version)[1] >= 1;
      result_.fields.push_back(std::move(found));
    }
  }

  void tell_missing() {
    constexpr std::array needed{Field::client_thread, Field::client_process, Field::own_process,
                                Field::process_id, Field::image_name};
    std::vector<std::string> missing;
    for (const auto field : needed)
      if (!claims_.contains(field)) {
        const auto name = to_name(field, code_);
        missing.push_back(fmt::format("{}.{}", name.structure, name.field));
      }
    if (!missing.empty())
      result_.findings.warning("thread-offset-missing", std::nullopt,
                               "no exported function that is understood reads {}",
                               fmt::join(missing, ", "));
  }

  const pe::Image& image_;
  KernelCode code_;
  Disassembler disassembler_;
  Claims claims_;
  ThreadOffsets result_;
};

}  // namespace

std::vector<KnownOffset> thread_fields(const pe::ImageTables& tables) {
  const KernelCode code{tables, {}};
  std::vector<KnownOffset> fields;
  for (const auto field : all_fields) {
    const auto name = to_name(field, code);
    fields.push_back({std::string{name.structure}, std::string{name.field}, 0});
  }
  return fields;
}

ThreadOffsets find_thread_offsets(const pe::ImageTables& tables,
                                  const std::vector<KnownOffset>& types) {
  const auto machine = tables.image().machine();
  if (Disassembler::supports(machine)) {
    auto offsets = Finder{tables}.find(types);
    core::note_unreadable(tables.image().file(), offsets.findings);
    return offsets;
  }
  ThreadOffsets none;
  none.findings.warning("thread-offset-missing", std::nullopt,
                        "the accessors of {} kernels are not read", pe::to_string(machine));
  return none;
}

}  // namespace coldtrace::syscall_map
