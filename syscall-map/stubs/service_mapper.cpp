#include "coldtrace/syscall-map/stubs/service_mapper.hpp"

#include <algorithm>
#include <span>

#include <boost/container/small_vector.hpp>

#include "coldtrace/core/sorting.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/pe/import_directory.hpp"
#include "syscall-map/stubs/cross_checks.hpp"
#include "syscall-map/stubs/entry_code.hpp"
#include "syscall-map/stubs/inference.hpp"
#include "syscall-map/stubs/stub.hpp"
#include "syscall-map/stubs/stub_run.hpp"

namespace coldtrace::syscall_map {
namespace {

using Names = boost::container::small_vector<std::string_view, 4>;

bool looks_like_service(std::string_view name) {
  return name.starts_with("Nt") || name.starts_with("Zw");
}

// NtX first, then ZwX, then what is left, each in order of the alphabet.
void sort_names(Names& names) {
  const auto rank = [](std::string_view name) {
    if (!is_service_name(name)) return 2;
    return name.starts_with("Nt") ? 0 : 1;
  };
  std::sort(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a < b;
  });
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

Service to_service(const pe::Image& image, pe::Rva rva, const Stub& stub, const Names& names,
                   const std::string& evidence) {
  Service service = to_service(image, rva, stub, evidence);
  service.name = names.empty() ? "" : std::string{names.front()};
  for (std::size_t i = 1; i < names.size(); ++i) service.aliases.emplace_back(names[i]);
  return service;
}

// Import slots by address, read when the first is asked for: few images need them.
class ImportSlots {
 public:
  explicit ImportSlots(const pe::Image& image) : image_{image} {}

  std::optional<std::string> find(pe::Rva slot) {
    if (!read_) read();
    const auto found = std::lower_bound(
        slots_.begin(), slots_.end(), slot,
        [](const Slot& entry, pe::Rva wanted) { return entry.function.slot < wanted; });
    if (found == slots_.end() || found->function.slot != slot) return std::nullopt;
    const auto& [module, function] = *found;
    return function.by_ordinal ? fmt::format("{}!#{}", module, function.ordinal)
                               : fmt::format("{}!{}", module, function.name);
  }

 private:
  struct Slot {
    std::string_view module;
    pe::ImportedFunction function;
  };

  void read() {
    read_ = true;
    core::Findings findings;  // damaged imports leave names out, no service
    add(pe::read_imports(image_, findings));
    add(pe::read_delay_imports(image_, findings));
    core::stable_sort_if_needed(
        slots_, [](const Slot& a, const Slot& b) { return a.function.slot < b.function.slot; });
  }

  void add(const std::vector<pe::ImportedModule>& modules) {
    for (const auto& module : modules)
      for (const auto& function : module.functions) slots_.push_back({module.name, function});
  }

  const pe::Image& image_;
  bool read_ = false;
  std::vector<Slot> slots_;  // ascending; of those at one address the first one counts
};

class Mapper {
 public:
  explicit Mapper(const pe::ImageTables& tables)
      : image_{tables.image()},
        decoder_{image_, pe::has_wine_marker(image_)},
        exports_{tables.exports().directory.exports} {
    map_.findings.merge(tables.exports().findings);
  }

  ServiceMap map() {
    const auto places = sorted_places();
    plain_exports_.reserve(places.size());
    for (auto first = places.begin(); first != places.end();) {
      const auto last = std::find_if(first, places.end(),
                                     [&](const Place& other) { return other.rva != first->rva; });
      load_code({first, places.end()});
      add_address({first, last});
      ++addresses_;
      first = last;
    }
    map_.findings.merge(complete_kernel_run(image_, map_.services));
    resolve_unread(image_, unread_, map_);
    leave_out_plain_exports();
    check_services(map_);
    core::stable_sort_if_needed(map_.services, [](const Service& a, const Service& b) {
      return a.number != b.number ? a.number < b.number : a.rva < b.rva;
    });
    std::sort(map_.rejected.begin(), map_.rejected.end(),
              [](const RejectedName& a, const RejectedName& b) { return a.name < b.name; });
    core::note_unreadable(image_.file(), map_.findings);
    return std::move(map_);
  }

 private:
  // A named export.
  struct Place {
    pe::Rva rva{};
    u32 index = 0;  // of the export
    bool service_like = false;
  };

  // By address.
  std::vector<Place> sorted_places() {
    std::vector<Place> places;
    places.reserve(exports_.size());
    for (u32 i = 0; i < exports_.size(); ++i) {
      const auto& entry = exports_[i];
      if (entry.name.empty()) continue;
      const bool service_like = looks_like_service(entry.name);
      if (!entry.is_forwarder)
        places.push_back({code_address(entry.address), i, service_like});
      else if (service_like)
        leave_out(entry.name, fmt::format("forwarded to {}", entry.forwarder));
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return a.rva != b.rva ? a.rva < b.rva : a.index < b.index;
    });
    return places;
  }

  std::string_view name(const Place& place) const { return exports_[place.index].name; }

  // Most stubs of an image have one shape and length, and so the same sentence.
  const std::string& evidence_of(const Stub& stub) {
    if (stub.length != evidence_length_ || stub.shape != evidence_shape_) {
      evidence_length_ = stub.length;
      evidence_shape_ = stub.shape;
      evidence_ =
          fmt::format("{} bytes at the export are a stub of shape {}", stub.length, stub.shape);
    }
    return evidence_;
  }

  // What lies close together is read at once: a read costs as much as two pages more of it.
  void load_code(std::span<const Place> places) {
    constexpr u64 close = 0x2000;
    constexpr u64 most = 0x20000;
    const u64 start = value(places.front().rva);
    if (start < loaded_ || !image_.is_executable(places.front().rva)) return;
    u64 end = start;
    for (const auto& place : places) {
      const u64 rva = value(place.rva);
      if (rva > end + close || rva > start + most) break;
      end = rva + StubDecoder::longest_stub;
    }
    image_.prefetch(places.front().rva, end - start);
    loaded_ = end;
  }

  // The exports of one address.
  void add_address(std::span<const Place> places) {
    const auto rva = places.front().rva;
    const auto stub = decoder_.decode(rva);
    const bool service_like = std::any_of(places.begin(), places.end(),
                                          [](const Place& place) { return place.service_like; });
    if (!stub && !service_like) {
      plain_exports_.insert(plain_exports_.end(), places.begin(), places.end());
      return;
    }
    Names names;
    for (const auto& place : places) names.push_back(name(place));
    sort_names(names);
    if (stub && stub->number < 2 * win32k_bit) {
      ++stub_addresses_;
      map_.services.push_back(to_service(image_, rva, *stub, names, evidence_of(*stub)));
    } else if (stub) {
      map_.findings.warning("number-implausible", image_.addresses().to_offset(rva),
                            "{} loads number {:#x}, which no service table has", names.front(),
                            stub->raw_immediate);
      for (const auto name : names)
        leave_out(name, fmt::format("its stub's number {:#x} is in no service table",
                                    stub->raw_immediate));
    } else {
      unread_.push_back(
          {rva, {names.begin(), names.end()}, classify_entry(image_, rva, [this](pe::Rva slot) {
             return imports_.find(slot);
           })});
    }
  }

  // Bit 0 of a 32-bit ARM address says Thumb.
  pe::Rva code_address(pe::Rva rva) const {
    const bool thumb =
        image_.machine() == pe::Machine::armnt || image_.machine() == pe::Machine::arm;
    return thumb ? pe::Rva{value(rva) & ~u32{1}} : rva;
  }

  void leave_out(std::string_view name, std::string reason) {
    map_.rejected.push_back({std::string{name}, std::move(reason)});
  }

  // In a DLL made of stubs (win32u) whatever else is exported deserves a reason too.
  void leave_out_plain_exports() {
    if (stub_addresses_ * 4 < addresses_ * 3) return;
    for (const auto& place : plain_exports_)
      leave_out(name(place), image_.is_executable(place.rva) ? "no stub and no name of a service"
                                                             : "data, not code");
  }

  const pe::Image& image_;
  StubDecoder decoder_;
  ImportSlots imports_{image_};
  const std::vector<pe::Export>& exports_;
  u64 addresses_ = 0;
  u64 loaded_ = 0;  // RVA behind the code that is loaded
  std::vector<UnreadEntry> unread_;
  std::vector<Place> plain_exports_;
  u64 stub_addresses_ = 0;
  u64 evidence_length_ = 0;
  std::string_view evidence_shape_;
  std::string evidence_;
  ServiceMap map_;
};

}  // namespace

ServiceMap map_services(const pe::ImageTables& tables) {
  return Mapper{tables}.map();
}

}  // namespace coldtrace::syscall_map
