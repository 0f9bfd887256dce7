#include "coldtrace/tracefile/any_trace.hpp"

#include <utility>

#include <fmt/format.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/tracefile/gzip_image.hpp"

namespace coldtrace::tracefile {
namespace {

// Whether the contents are those of a known kind of file that is no trace, damaged or not.
bool is_other(core::FileKind kind) {
  return kind != core::FileKind::unknown && kind != core::FileKind::zeros &&
         kind != core::FileKind::event_trace && kind != core::FileKind::ctrace;
}

tl::unexpected<AnyTrace::Failure> unreadable(const core::ParseError& error) {
  return core::fail(AnyTrace::Failure{error, false, core::FileKind::unknown});
}

}  // namespace

core::Expected<AnyTrace, AnyTrace::Failure> AnyTrace::open(const std::string& path,
                                                           const Options& options,
                                                           core::Findings& findings) {
  auto file = core::FileImage::open(path);
  if (!file) return unreadable(file.error());
  return open(std::move(*file), options, findings);
}

core::Expected<AnyTrace, AnyTrace::Failure> AnyTrace::open(std::unique_ptr<core::ImageSource> file,
                                                           const Options& options,
                                                           core::Findings& findings) {
  AnyTrace opened;
  opened.file_ = std::move(file);
  const core::ImageSource* source = opened.file_.get();
  if (is_gzip(*source)) {
    auto unpacked = unpack_gzip(*source, options.unpacked_limit, findings);
    if (!unpacked) return unreadable(unpacked.error());
    opened.unpacked_ = std::move(*unpacked);
    source = opened.unpacked_.get();
  }
  if (is_ctrace(*source)) {
    auto ctrace = Ctrace::open(*source, options.catalog, findings);
    if (!ctrace) return unreadable(ctrace.error());
    opened.ctrace_ = std::move(*ctrace);
    return opened;
  }
  if (const auto damage = find_damaged_ctrace_magic(*source))
    return core::fail(Failure{*damage, true, core::FileKind::ctrace});
  const auto kind = core::recognize_file(*source);
  auto trace = Trace::open(*source, options.catalog, findings);
  if (!trace) {
    if (trace.error().fault == core::Fault::io) return unreadable(trace.error());
    return core::fail(
        Failure{trace.error(), true, is_other(kind) ? kind : core::FileKind::unknown});
  }
  // A file of another kind may hold a trace, as an archive does; that is no damaged trace.
  if (is_other(kind) && !trace->starts_file())
    return core::fail(Failure{{core::Fault::bad_magic, 0, "trace", "kind", 0, 0}, true, kind});
  opened.etl_ = std::make_unique<Trace>(std::move(*trace));
  return opened;
}

std::optional<core::FileTime> AnyTrace::start_time() const {
  const auto start = etl_ ? etl_->header().start_time : ctrace_->header().start_time;
  return start.ticks == 0 ? std::nullopt : std::optional{start};
}

const SchemaSource& AnyTrace::schemas() const {
  if (etl_) return etl_->schemas();
  return ctrace_->schemas();
}

const std::set<SchemaKey>& AnyTrace::schema_keys() const {
  static const std::set<SchemaKey> none;
  return etl_ ? etl_->schema_keys() : none;
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

std::string AnyTrace::windows_version() const {
  if (etl_) return fmt::format("{}.{}", etl_->header().major_version, etl_->header().minor_version);
  const auto& version = ctrace_->header().windows_version;
  return fmt::format("{}.{}", version[0], version[1]);
}

std::unique_ptr<EventSequence> AnyTrace::stream(const StreamOptions& options) const {
  if (ctrace_) return ctrace_->stream(options);
  return std::make_unique<EventStream>(etl_->stream(options));
}

}  // namespace coldtrace::tracefile
