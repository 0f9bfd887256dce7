#include "coldtrace/tracefile/opening/any_trace.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "coldtrace/tracefile/names/version_text.hpp"
#include "tracefile/etl/buffer_scanner.hpp"
#include "tracefile/opening/inner_events.hpp"
#include "tracefile/opening/one_machine.hpp"

namespace coldtrace::tracefile {
namespace {

// Whether the contents are those of a known kind of file that is not a trace, damaged or not.
bool is_other(core::FileKind kind) {
  return kind != core::FileKind::unknown && kind != core::FileKind::zeros &&
         kind != core::FileKind::event_trace && kind != core::FileKind::ctrace;
}

TraceFailure unreadable(const core::ParseError& error) {
  return {error, false, core::FileKind::unknown};
}

TraceFailure no_etl(const core::ParseError& error, const core::Result<core::FileKind>& kind) {
  if (error.fault == core::Fault::io) return unreadable(error);
  if (!kind) return unreadable(kind.error());
  return {error, true, is_other(*kind) ? *kind : core::FileKind::unknown};
}

TraceFailure other_kind(core::FileKind kind) {
  return {{core::Fault::bad_magic, 0, "trace", "kind", 0, 0}, true, kind};
}

TraceFailure not_together(std::string text) {
  return {{core::Fault::unsupported, 0, "traces", "files", 0, 0},
          true,
          core::FileKind::unknown,
          std::move(text)};
}

// What was found of a file that is not part of the trace, such as an archive whose others are.
void keep_findings(const InputFile& file, core::Findings& findings) {
  for (auto finding : file.findings.all()) {
    if (const auto at = std::exchange(finding.first_offset, std::nullopt))
      finding.text = fmt::format("at {:#x}: {}", *at, finding.text);
    finding.text = fmt::format("{}: {}", file.name, finding.text);
    findings.merge(std::move(finding));
  }
}

// " (NAME: 0x3000: cannot read: Input/output error)".
std::string damage_text(const InputFile& file, const std::optional<core::ParseError>& error) {
  return error ? fmt::format(" ({}: {})", file.name, *error) : std::string{};
}

// What of a file cannot be read. It is read whole: only where something of it may not be.
std::string unread_text(const InputFile& file) {
  return damage_text(file, core::find_read_error(*file.bytes));
}

// The buffers of a file that is not alone.
core::Expected<BufferScan, TraceFailure> scan_etl(InputFile& file,
                                                  const AnyTrace::Options& options) {
  const auto& source = *file.bytes;
  if (const auto damage = find_damaged_ctrace_magic(source))
    return core::fail(TraceFailure{*damage, true, core::FileKind::ctrace});
  const auto kind = core::recognize_file(source);
  auto scan = scan_buffers(source, options.catalog.largest_unpacked, file.findings);
  if (!scan) return core::fail(no_etl(scan.error(), kind));
  if (kind && is_other(*kind) && (scan->buffers.empty() || scan->buffers[0].offset != 0))
    return core::fail(other_kind(*kind));
  return std::move(*scan);
}

core::Expected<AnyTrace, TraceFailure> of_one(
    core::Expected<AnyTrace, std::vector<AnyTrace::Rejected>> opened) {
  if (!opened) return core::fail(std::move(opened.error().front().failure));
  return std::move(*opened);
}

TracedMachine machine_of(const CtraceHeader& header) {
  return {header.windows_version, header.processors, header.pointer_size};
}

std::optional<TracedMachine> machine_of(const BufferScan& scan) {
  if (!scan.has_header) return std::nullopt;
  const auto& header = scan.header;
  return TracedMachine{header.windows_version(), header.processors, header.pointer_size};
}

}  // namespace

core::Expected<AnyTrace, TraceFailure> AnyTrace::open(const std::string& path,
                                                      const Options& options,
                                                      core::Findings& findings) {
  auto files = open_input(path, options.unpacked_limit, findings);
  if (!files) return core::fail(std::move(files.error()));
  return of_one(open(std::move(*files), options, findings));
}

core::Expected<AnyTrace, TraceFailure> AnyTrace::open(std::unique_ptr<core::ImageSource> file,
                                                      const Options& options,
                                                      core::Findings& findings) {
  auto files = open_input(std::move(file), "", options.unpacked_limit, findings);
  if (!files) return core::fail(std::move(files.error()));
  return of_one(open(std::move(*files), options, findings));
}

core::Expected<AnyTrace, std::vector<AnyTrace::Rejected>> AnyTrace::open(
    std::vector<InputFile> files, const Options& options, core::Findings& findings) {
  AnyTrace opened;
  opened.files_ = std::move(files);
  const auto name = opened.files_.empty() ? std::string{} : opened.name();
  const auto failure = opened.files_.size() == 1 ? opened.open_one(options, findings)
                                                 : opened.merge(options, findings);
  if (failure) opened.rejected_.push_back({name, *failure});
  if (failure || (!opened.etl_ && !opened.ctrace_)) return core::fail(std::move(opened.rejected_));
  return opened;
}

std::optional<TraceFailure> AnyTrace::open_one(const Options& options, core::Findings& findings) {
  const auto& source = *files_.front().bytes;
  findings.merge(files_.front().findings);
  if (is_ctrace(source)) {
    auto ctrace = Ctrace::open(source, options.catalog, findings);
    if (!ctrace) return unreadable(ctrace.error());
    ctrace_ = std::move(*ctrace);
    if (options.catalog.schema_keys)
      inner_keys_ = find_inner_keys(*ctrace_->stream({}), ctrace_->schemas());
    return std::nullopt;
  }
  if (const auto damage = find_damaged_ctrace_magic(source))
    return Failure{*damage, true, core::FileKind::ctrace};
  const auto kind = core::recognize_file(source);
  auto trace = Trace::open(source, options.catalog, findings);
  if (!trace) return no_etl(trace.error(), kind);
  // A file of another kind may hold a trace, as an archive does; that is not a damaged trace.
  if (kind && is_other(*kind) && !trace->starts_file()) return other_kind(*kind);
  etl_ = std::make_unique<Trace>(std::move(*trace));
  return std::nullopt;
}

std::optional<TraceFailure> AnyTrace::merge(const Options& options, core::Findings& findings) {
  constexpr std::size_t most_files = 0xffff;  // as Event::file can count
  if (files_.size() > most_files)
    return not_together(fmt::format("{} files: a trace has at most {}", files_.size(), most_files));
  if (std::ranges::any_of(files_, [](const InputFile& file) { return is_ctrace(*file.bytes); }))
    return merge_ctraces(options, findings);
  struct Found {
    InputFile file;
    ScannedFile scanned;
  };
  std::vector<Found> found;
  for (auto& file : files_) {
    auto scan = scan_etl(file, options);
    if (!scan) {
      keep_findings(file, findings);
      rejected_.push_back({file.name, std::move(scan.error())});
    } else {
      const auto* const bytes = file.bytes.get();
      found.push_back({std::move(file), {bytes, std::move(*scan)}});
    }
  }
  if (found.empty())
    return rejected_.empty() ? std::optional{not_together("no trace")} : std::nullopt;
  std::ranges::stable_sort(
      found, {}, [](const Found& one) { return one.scanned.scan.header.start_time.ticks; });
  files_.clear();
  std::vector<ScannedFile> scanned;
  std::vector<core::Findings> of_files;
  bool is_unread = false;  // something of a file, or of two that may be copies
  for (auto& next : found) {
    auto& file = next.file;
    auto& one = next.scanned;
    is_unread |= file.findings.count("trace-unreadable") > 0;
    const auto copied = std::ranges::find_if(scanned, [&](const ScannedFile& other) {
      const auto same = is_copy(other, one);
      is_unread |= !same;
      return same.value_or(false);
    });
    if (copied != scanned.end()) {
      const auto& other = files_[static_cast<std::size_t>(copied - scanned.begin())].name;
      keep_findings(file, findings);
      rejected_.push_back({file.name, not_together("a copy of " + other + ", which is read")});
      continue;
    }
    for (std::size_t i = 0; i < scanned.size(); ++i)
      if (const auto number = find_shared_buffer(scanned[i], one))
        return not_together(
            fmt::format("{} and {} both have buffer {} of one session{}", files_[i].name, file.name,
                        *number, is_unread ? unread_text(files_[i]) + unread_text(file) : ""));
    if (!scanned.empty())
      if (auto failure = refuse(scanned.front().scan, file, one.scan, options, findings))
        return failure;
    scanned.push_back(std::move(one));
    of_files.push_back(std::move(file.findings));
    files_.push_back(std::move(file));
  }
  auto catalog = options.catalog;
  catalog.names &= std::ranges::none_of(
      scanned, [](const ScannedFile& file) { return file.scan.other_clock.has_value(); });
  etl_ = std::make_unique<Trace>(Trace::merge(std::move(scanned), catalog, of_files));
  for (std::size_t i = 0; i < files_.size(); ++i) {
    findings.merge(of_files[i]);
    files_[i].findings = std::move(of_files[i]);
  }
  return std::nullopt;
}

std::optional<TraceFailure> AnyTrace::refuse_other(InputFile& file, const std::string& ctrace,
                                                   const Options& options) {
  const auto scan = scan_etl(file, options);
  if (scan)
    return not_together(
        fmt::format("{} is an .etl file and {} a .ctrace file: traces of two kinds are not read "
                    "together",
                    file.name, ctrace));
  rejected_.push_back({file.name, scan.error()});
  return std::nullopt;
}

std::optional<TraceFailure> AnyTrace::merge_ctraces(const Options& options,
                                                    core::Findings& findings) {
  const auto is_one = [](const InputFile& file) { return is_ctrace(*file.bytes); };
  const auto name = std::ranges::find_if(files_, is_one)->name;
  struct Found {
    InputFile file;
    CtracePart part;
  };
  std::vector<Found> found;
  for (auto& file : files_) {
    if (!is_one(file)) {
      if (auto failure = refuse_other(file, name, options)) return failure;
      keep_findings(file, findings);
      continue;
    }
    auto header = read_ctrace_header(*file.bytes);
    if (!header) {
      keep_findings(file, findings);
      rejected_.push_back({file.name, unreadable(header.error())});
      continue;
    }
    CtracePart part{file.name, file.bytes.get(), std::move(*header)};
    found.push_back({std::move(file), std::move(part)});
  }
  files_.clear();
  if (found.empty()) return std::nullopt;
  // The files of one session say the same of its start: their names decide, not how they are given.
  std::ranges::stable_sort(found, [](const Found& one, const Found& other) {
    const auto key = [](const Found& of) {
      return std::tuple{of.part.header.start_time.ticks, of.part.header.session, of.part.name};
    };
    return key(one) < key(other);
  });
  std::vector<CtracePart> parts;
  std::vector<core::Findings> of_files;
  bool is_unread = false;  // something of two files that may be copies
  for (auto& next : found) {
    auto& file = next.file;
    auto& part = next.part;
    const auto copied = std::ranges::find_if(parts, [&](const CtracePart& other) {
      if (other.header.session != part.header.session ||
          other.source->size() != part.source->size())
        return false;
      const auto same = core::has_same_bytes(*other.source, *part.source);
      is_unread |= !same;
      return same.value_or(false);
    });
    if (copied != parts.end()) {
      keep_findings(file, findings);
      rejected_.push_back(
          {part.name, not_together("a copy of " + copied->name + ", which is read")});
      continue;
    }
    of_files.push_back(std::move(file.findings));
    files_.push_back(std::move(file));
    parts.push_back(std::move(part));
  }
  auto merged = Ctrace::merge(std::move(parts), options.catalog, options.force, of_files, findings);
  if (!merged) {
    auto why = std::move(merged.error());
    if (is_unread)
      for (const auto& file : files_) why += unread_text(file);
    return not_together(std::move(why));
  }
  ctrace_ = std::move(*merged);
  for (std::size_t i = 0; i < files_.size(); ++i) {
    findings.merge(of_files[i]);
    files_[i].findings = std::move(of_files[i]);
  }
  if (options.catalog.schema_keys)
    inner_keys_ = find_inner_keys(*ctrace_->stream({}), ctrace_->schemas());
  return std::nullopt;
}

std::optional<TraceFailure> AnyTrace::refuse(const BufferScan& first, const InputFile& file,
                                             BufferScan& scan, const Options& options,
                                             core::Findings& findings) const {
  const auto clocks = find_clock_mismatch(first, scan);
  const auto machines = find_machine_mismatch(first, scan);
  if (!clocks && !machines) return std::nullopt;
  const auto text = fmt::format("{} and {} are not from one boot of one machine: {}",
                                files_.front().name, file.name, clocks ? *clocks : *machines);
  if (!first.has_header || !scan.has_header) {
    auto why = options.force ? text + "; without it their events have no common order" : text;
    if (!first.has_header) why += damage_text(files_.front(), first.header_error);
    if (!scan.has_header) why += damage_text(file, scan.header_error);
    return not_together(std::move(why));
  }
  if (!options.force) return not_together(text);
  if (clocks)
    scan.other_clock = ClockChange{make_clock(scan.header, scan.first_timestamp),
                                   make_clock(first.header, first.first_timestamp)};
  findings.warning("trace-mismatch", std::nullopt, "{}; they are read together nevertheless{}",
                   text,
                   clocks ? ": by the start of each session and its own clock, without names"
                          : std::string_view{});
  return std::nullopt;
}

std::string AnyTrace::name() const {
  const auto others = files_.size() - 1;
  if (others == 0) return files_.front().name;
  return fmt::format("{} and {} {}", files_.front().name, others, others == 1 ? "other" : "others");
}

std::optional<core::FileTime> AnyTrace::start_time() const {
  const auto start = etl_ ? etl_->header().start_time : ctrace_->start_time();
  return start.ticks == 0 ? std::nullopt : std::optional{start};
}

const SchemaSource& AnyTrace::schemas() const {
  if (etl_) return etl_->schemas();
  return ctrace_->schemas();
}

const std::set<SchemaKey>& AnyTrace::schema_keys() const {
  return etl_ ? etl_->schema_keys() : inner_keys_;
}

const std::set<MessagePdb>& AnyTrace::message_pdbs() const {
  static const std::set<MessagePdb> none;
  return etl_ ? etl_->message_pdbs() : none;
}

std::vector<KindCount> AnyTrace::count_kinds(const SchemaSource& schemas) const {
  EventDecoder decoder{schemas};
  KindCounter counter;
  StreamOptions options;
  options.order = Order::file;
  const auto events = stream(options);
  for (auto item = events->next(); item != EventSequence::Item::end; item = events->next()) {
    if (item != EventSequence::Item::event) continue;
    const auto& kind = decoder.kind_of(events->event());
    counter.count(kind, decoder.measure(events->event(), kind).decoded);
  }
  KindCounts counts;
  counter.add_to(counts);
  return counts.sorted();
}

u64 AnyTrace::events_of(std::size_t file) const {
  return etl_ ? etl_->files()[file].events : ctrace_->parts()[file].scan.events;
}

LostCount AnyTrace::events_lost() const {
  return etl_ ? etl_->events_lost() : LostCount{ctrace_->lost(), ctrace_->lost()};
}

LostCount AnyTrace::buffers_lost() const {
  return etl_ ? etl_->buffers_lost() : LostCount{ctrace_->missing(), ctrace_->missing()};
}

std::optional<TracedMachine> AnyTrace::machine() const {
  if (ctrace_) return machine_of(ctrace_->header());
  return machine_of(etl_->scan());
}

std::string AnyTrace::windows_build() const {
  std::set<std::string> builds;
  const auto add = [&](const std::optional<TracedMachine>& machine) {
    if (!machine) return;
    if (auto build = find_version_text(machine->windows_version)) builds.insert(std::move(*build));
  };
  if (ctrace_)
    for (const auto& part : ctrace_->parts()) add(machine_of(part.header));
  else
    for (const auto& file : etl_->files()) add(machine_of(file.scan));
  return builds.size() == 1 ? *builds.begin() : std::string{};
}

std::string AnyTrace::windows_version() const {
  const auto build = windows_build();
  return build.substr(0, build.rfind('.'));
}

std::unique_ptr<EventSequence> AnyTrace::stream(const StreamOptions& options) const {
  if (ctrace_) return ctrace_->stream(options);
  return std::make_unique<EventStream>(etl_->stream(options));
}

}  // namespace coldtrace::tracefile
