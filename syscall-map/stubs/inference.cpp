#include "syscall-map/stubs/inference.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <boost/container/flat_map.hpp>

#include "coldtrace/core/text.hpp"

namespace coldtrace::syscall_map {
namespace {

using Kind = EntryCode::Kind;

bool is_hook(const EntryCode& code) {
  return code.kind == Kind::hook || code.kind == Kind::breakpoint;
}

// On x64 NtQuerySystemTime jumps to RtlQuerySystemTime but keeps its service number.
// Source: docs/commands/syscall-map.md, "The number without a stub"; the only one in all 32
// x64 ntdlls measured.
bool is_stubless_service(const UnreadEntry& entry) {
  return entry.code.kind == Kind::wrapper && std::find(entry.names.begin(), entry.names.end(),
                                                       "NtQuerySystemTime") != entry.names.end();
}

class Resolver {
 public:
  Resolver(const pe::Image& image, const std::vector<UnreadEntry>& unread, ServiceMap& map)
      : image_{image}, unread_{unread}, map_{map} {
    read_.reserve(map.services.size());
    for (const auto& service : map.services) {
      read_.emplace_hint(read_.end(), service.rva, service.number);
      kernel_ = kernel_ || service.kernel_stub;
    }
    for (const auto& entry : unread) {
      const bool missing = (is_hook(entry.code) && is_service_name(entry.names.front())) ||
                           is_stubless_service(entry);
      if (missing) missing_.emplace(entry.rva, &entry);
      if (missing || entry.code.kind == Kind::wrapper || entry.code.kind == Kind::import_thunk)
        slots_.emplace(entry.rva, &entry);
    }
  }

  void resolve() {
    if (read_.empty()) {
      for (const auto& entry : unread_) leave_out(entry);
      return;
    }
    for (const auto& [rva, entry] : missing_) add(*entry, infer(rva));
    for (const auto& entry : unread_)
      if (!is_hook(entry.code) || !missing_.contains(entry.rva)) leave_out(entry);
  }

 private:
  using Entries = boost::container::flat_map<pe::Rva, const UnreadEntry*>;

  struct Inferred {
    u16 number;
    std::string evidence;
  };

  // The order of the stubs gives a number: all entries between two stubs that were read take the
  // numbers between, if there are as many. Source: stubs lie in number order in all ntdlls
  // measured. Wrappers may stand in a stub's place too, or be apart from the stubs: both are tried.
  std::optional<Inferred> infer(pe::Rva rva) const {
    if (auto inferred = infer_between(rva, slots_)) return inferred;
    if (auto inferred = infer_between(rva, missing_)) return inferred;
    return infer_at_end(rva);
  }

  std::optional<Inferred> infer_between(pe::Rva rva, const Entries& entries) const {
    const auto after = read_.upper_bound(rva);
    if (after == read_.begin() || after == read_.end()) return std::nullopt;
    const auto before = std::prev(after);
    const auto first = entries.upper_bound(before->first);
    const auto rank = std::distance(first, entries.upper_bound(rva));
    const auto count = std::distance(first, entries.lower_bound(after->first));
    const auto numbers = i64{after->second} - before->second - 1;
    if (numbers != count || table_of(after->second) != table_of(before->second))
      return std::nullopt;
    return Inferred{static_cast<u16>(before->second + rank),
                    fmt::format("entry {} of {} between the stubs of {:#x} at {:#x} and {:#x} at "
                                "{:#x}, which leave as many numbers",
                                rank, count, before->second, value(before->first), after->second,
                                value(after->first))};
  }

  // Before the first stub and behind the last one only the distance between stubs is proof.
  std::optional<Inferred> infer_at_end(pe::Rva rva) const {
    if (read_.size() < 2) return std::nullopt;
    const bool behind = rva > read_.rbegin()->first;
    if (!behind && rva > read_.begin()->first) return std::nullopt;
    const auto& [end, number] = behind ? *read_.rbegin() : *read_.begin();
    const auto& [next, next_number] =
        behind ? *std::next(read_.rbegin()) : *std::next(read_.begin());
    const i64 stride = i64{value(next)} - i64{value(end)};
    const i64 step = i64{next_number} - i64{number};
    const i64 distance = i64{value(end)} - i64{value(rva)};
    if (step != (behind ? -1 : 1) || distance % stride != 0) return std::nullopt;
    const i64 places = distance / stride;
    const auto slots = behind ? std::distance(slots_.upper_bound(end), slots_.upper_bound(rva))
                              : std::distance(slots_.lower_bound(rva), slots_.lower_bound(end));
    if (slots != std::abs(places)) return std::nullopt;  // a place in between holds no entry
    const i64 inferred = i64{number} - step * places;
    if (inferred < 0 || inferred > 0xffff ||
        table_of(static_cast<u16>(inferred)) != table_of(number))
      return std::nullopt;
    return Inferred{
        static_cast<u16>(inferred),
        fmt::format("{} of {} bytes {} the stub of {:#x} at {:#x}",
                    core::counted(static_cast<u64>(std::abs(places)), "place", "places"),
                    std::abs(stride), behind ? "after" : "before", number, value(end))};
  }

  void add(const UnreadEntry& entry, const std::optional<Inferred>& inferred) {
    const bool hooked = is_hook(entry.code);
    const auto offset = image_.addresses().to_offset(entry.rva);
    if (hooked)
      map_.findings.warning("hooked-stub", offset, "{} at {:#x} is hooked: {}", entry.names.front(),
                            value(entry.rva), entry.code.description);
    if (!inferred) {
      if (!hooked) return;
      map_.findings.warning("number-unknown", offset,
                            "the number of {} cannot be inferred from the order of the stubs",
                            entry.names.front());
      for (const auto& name : entry.names)
        map_.rejected.push_back(
            {name, fmt::format(
                       "hooked ({}), and its number cannot be inferred from the order of the stubs",
                       entry.code.description)});
      return;
    }
    Service service;
    service.name = entry.names.front();
    service.aliases.assign(entry.names.begin() + 1, entry.names.end());
    service.number = inferred->number;
    service.table = table_of(inferred->number);
    service.rva = entry.rva;
    service.file_offset = offset;
    service.source = NumberSource::inferred;
    service.hooked = hooked;
    if (hooked) service.hook = entry.code.description;
    service.verified = !hooked;
    service.evidence.push_back(inferred->evidence);
    if (!hooked) {
      service.evidence.push_back(entry.code.description + ", no stub");
      map_.findings.info("number-hole", offset,
                         "{} has no stub ({}); its number {:#x} is inferred: no stub has it",
                         service.name, entry.code.description, service.number);
    }
    map_.services.push_back(std::move(service));
  }

  void leave_out(const UnreadEntry& entry) {
    for (const auto& name : entry.names) map_.rejected.push_back({name, reason(entry, name)});
  }

  std::string reason(const UnreadEntry& entry, const std::string& name) const {
    switch (entry.code.kind) {
      case Kind::data:
        return "data, not code";
      case Kind::wrapper:
        return fmt::format("wrapper inside the image: {}{}", entry.code.description,
                           is_stubless_service(entry) ? "; it has a number, but no stub" : "");
      case Kind::import_thunk:
        return "import thunk: " + entry.code.description;
      case Kind::hook:
      case Kind::breakpoint:
        return "no stub: " + entry.code.description;
      case Kind::code:
        break;
    }
    if (kernel_) return "the service itself, not a stub; kernels export stubs as ZwX";
    if (entry.names.size() > 2)
      return fmt::format("{} names share {:#x}, which is not a stub: retired", entry.names.size(),
                         value(entry.rva));
    if (!is_service_name(name)) return "not named like a service; an ordinary function";
    return "an ordinary function, no stub: " + entry.code.description;
  }

  const pe::Image& image_;
  const std::vector<UnreadEntry>& unread_;
  ServiceMap& map_;
  bool kernel_ = false;
  boost::container::flat_map<pe::Rva, u16> read_;
  Entries missing_;  // services whose stub was not read
  Entries slots_;    // these, and jumps that may stand where a stub was
};

}  // namespace

void resolve_unread(const pe::Image& image, const std::vector<UnreadEntry>& unread,
                    ServiceMap& map) {
  Resolver{image, unread, map}.resolve();
}

}  // namespace coldtrace::syscall_map
