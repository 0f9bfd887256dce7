#include "coldtrace/syscall-map/trace-points/trace_planner.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/hex.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "syscall-map/trace-points/instruction_emulation.hpp"
#include "syscall-map/trace-points/trace_places.hpp"

namespace coldtrace::syscall_map {
namespace {

class Planner {
 public:
  Planner(const pe::ImageTables& tables, const TracePlanNames& names, core::Findings& findings)
      : image_{tables.image()},
        findings_{findings},
        places_{tables, names.symbols, names.services},
        disassembler_{image_},
        code_{tables, names.symbols},
        prover_{code_, disassembler_, places_.starts()} {}

  std::vector<TracePoint> plan(std::span<const std::string> requests) {
    std::vector<TracePoint> points;
    for (const auto& request : expand(requests)) {
      auto point = make(request);
      if (point.eligible()) compare(points, point);
      if (point.eligible()) remember(point, points.size());
      tell(point);
      points.push_back(std::move(point));
    }
    findings_.merge(places_.code().findings());
    return points;
  }

 private:
  static void refuse(TracePoint& point, TraceRefusal code, std::string text) {
    point.refusals.push_back({code, std::move(text)});
  }

  // Each glob becomes the names that it means, one for a place; one that means nothing stays.
  std::vector<std::string> expand(std::span<const std::string> requests) {
    std::vector<std::string> names;
    for (const auto& request : requests) {
      const auto before = names.size();
      if (const auto parsed = parse_trace_request(request); parsed && is_glob(parsed->name))
        add_matching(parsed->name, request.substr(parsed->name.size()), names);
      if (names.size() == before) names.push_back(request);
    }
    if (names.size() > most_trace_points) {
      findings_.warning("trace-point-refused", std::nullopt,
                        "{} places are asked for, a plan has at most {}: the others are left out",
                        names.size(), most_trace_points);
      names.resize(most_trace_points);
    }
    return names;
  }

  void add_matching(std::string_view glob, const std::string& offset,
                    std::vector<std::string>& names) {
    std::set<pe::Rva> known;
    for (const auto& name : places_.matching(glob, places_.code().functions())) {
      TracePoint point;
      point.requested = name;
      core::Findings told_later;
      places_.resolve(point, told_later);
      const bool found = point.rva ? known.insert(*point.rva).second
                                   : point.refusals.front().code != TraceRefusal::not_found;
      if (found) names.push_back(name + offset);
    }
  }

  TracePoint make(const std::string& request) {
    TracePoint point;
    point.requested = request;
    places_.resolve(point, findings_);
    if (!point.rva) return point;
    point.file_offset = image_.addresses().to_offset(*point.rva);
    point.address = image_.optional_header().image_base + value(*point.rva);
    point.names = places_.names_at(*point.rva, findings_);
    const auto* section = image_.find_section(*point.rva);
    if (section == nullptr) {
      refuse(point, TraceRefusal::outside,
             fmt::format("{:#x} is in no section of the image", value(*point.rva)));
      return point;
    }
    point.section = section->name();
    look_at(*section, point);
    if (!point.file_offset) {
      refuse(point, TraceRefusal::not_stored,
             fmt::format("{:#x} is beyond what the file stores of {}", value(*point.rva),
                         point.section));
      return point;
    }
    if ((section->characteristics & pe::section_executable) != 0) look_at_code(point);
    return point;
  }

  // Whether the kernel, or sense, forbids trace points in the section.
  static void look_at(const pe::SectionHeader& section, TracePoint& point) {
    const bool executable = (section.characteristics & pe::section_executable) != 0;
    const bool discardable = (section.characteristics & pe::section_discardable) != 0;
    if (point.section == "INIT")
      refuse(point, TraceRefusal::init,
             "it is in the section INIT, which is discarded once the kernel has started");
    else if (point.section == "KVASCODE")
      refuse(point, TraceRefusal::kvascode,
             "it is in the section KVASCODE, the code that changes address spaces on the way into "
             "the kernel");
    else if (executable && discardable)
      refuse(point, TraceRefusal::discardable,
             fmt::format("it is in the section {}, whose code may be discarded (flags {:#010x})",
                         point.section, section.characteristics));
    if (!executable)
      refuse(point, TraceRefusal::not_executable,
             fmt::format("the section {} is not executable (flags {:#010x})", point.section,
                         section.characteristics));
  }

  void look_at_code(TracePoint& point) {
    if (!Disassembler::supports(image_.machine()))
      return refuse(
          point, TraceRefusal::machine,
          fmt::format("instructions of {} are not decoded here", pe::to_string(image_.machine())));
    auto boundary = prover_.examine(*point.rva);
    point.boundary = boundary.state;
    point.function = boundary.function;
    point.function_name = std::move(boundary.function_name);
    point.evidence = std::move(boundary.evidence);
    if (point.boundary == BoundaryState::refuted)
      refuse(point, TraceRefusal::not_a_boundary,
             fmt::format("no instruction begins there: {}", point.evidence.back()));
    const auto instruction = disassembler_.decode(*point.rva);
    if (!instruction) {
      const auto bytes = image_.bytes(*point.rva, ZYDIS_MAX_INSTRUCTION_LENGTH);
      return refuse(point, TraceRefusal::no_instruction,
                    fmt::format("the bytes {} are not a whole instruction", core::to_hex(bytes)));
    }
    const u32 length = instruction->info.length;
    for (const auto byte : image_.bytes(*point.rva, length))
      point.bytes.push_back(std::to_integer<u8>(byte));
    point.text = disassembler_.text(*instruction);
    point.relocations = prover_.relocations(*point.rva, length);
    point.emulation = describe_emulation(image_, disassembler_, *instruction);
    if (point.bytes.front() == int3)
      refuse(point, TraceRefusal::breakpoint,
             image_.layout() == pe::Layout::memory
                 ? "INT 3 is there already: a breakpoint or a trace point was set when the memory "
                   "was saved, and what was there before is unknown"
                 : "the instruction is INT 3 already");
  }

  // One trace point for an address, one for a function: the first.
  void compare(const std::vector<TracePoint>& before, TracePoint& point) const {
    if (const auto same = by_address_.find(*point.rva); same != by_address_.end())
      return refuse(point, TraceRefusal::duplicate_address,
                    fmt::format("{} already has the trace point at {:#x}",
                                before[same->second].requested, value(*point.rva)));
    if (!point.function) return;
    if (const auto same = by_function_.find(*point.function); same != by_function_.end()) {
      const auto& other = before[same->second];
      refuse(point, TraceRefusal::duplicate_function,
             fmt::format("{} already has the trace point of the function at {:#x}, at {:#x}",
                         other.requested, value(*point.function), value(*other.rva)));
    }
  }

  void remember(const TracePoint& point, std::size_t index) {
    by_address_.emplace(*point.rva, index);
    if (point.function) by_function_.emplace(*point.function, index);
  }

  void tell(const TracePoint& point) {
    if (!point.eligible()) {
      const auto& refusal = point.refusals.front();
      const bool missing = refusal.code == TraceRefusal::not_found;
      const auto code = missing ? core::Name{"no-match"} : core::Name{"trace-point-refused"};
      findings_.warning(code, point.file_offset, "{}: {}", point.requested, refusal.text);
      return;
    }
    if (point.boundary == BoundaryState::unknown)
      findings_.info("trace-boundary-unknown", point.file_offset,
                     "{}: whether an instruction begins there is not proved", point.requested);
    if (!point.relocations.empty())
      findings_.info("trace-bytes-relocated", point.file_offset,
                     "{}: the loader adjusts the instruction at {:#x}: its bytes are those of the "
                     "preferred base",
                     point.requested, value(point.relocations.front()));
  }

  const pe::Image& image_;
  core::Findings& findings_;
  TracePlaces places_;
  Disassembler disassembler_;
  KernelCode code_;
  BoundaryProver prover_;
  std::map<pe::Rva, std::size_t> by_address_;  // indexes of eligible points
  std::map<pe::Rva, std::size_t> by_function_;
};

}  // namespace

bool is_trace_request(std::string_view text) {
  return parse_trace_request(text).has_value();
}

bool has_trace_names(const pe::ImageTables& tables, std::span<const std::string> requests,
                     const std::vector<NamedPlace>& symbols) {
  const TracePlaces places{tables, symbols, {}};
  return std::all_of(requests.begin(), requests.end(),
                     [&](const std::string& request) { return places.has_name(request); });
}

std::vector<TracePoint> plan_trace_points(const pe::ImageTables& tables,
                                          std::span<const std::string> requests,
                                          const TracePlanNames& names, core::Findings& findings) {
  if (requests.empty()) return {};
  const core::UnreadableNote note{tables.image().file(), findings};
  return Planner{tables, names, findings}.plan(requests);
}

std::vector<std::string> trace_requests(const std::vector<TracePoint>& points) {
  std::vector<std::string> requests;
  for (const auto& point : points) requests.push_back(point.requested);
  return requests;
}

}  // namespace coldtrace::syscall_map
