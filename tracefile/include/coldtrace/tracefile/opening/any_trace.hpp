#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/tracefile/ctrace/ctrace.hpp"
#include "coldtrace/tracefile/etl/trace.hpp"
#include "coldtrace/tracefile/opening/input_file.hpp"

namespace coldtrace::tracefile {

// The machine that was traced, as described in the header of a trace.
struct TracedMachine {
  std::array<u32, 3> windows_version;  // as find_version_text() takes it
  u32 processors;
  u32 pointer_size;  // bytes
};

// A trace of either format with what it is read from: an .etl or a .ctrace file, packed or not, or
// several of one kind that share one machine's clock.
class AnyTrace {
 public:
  struct Options {
    CatalogOptions catalog;
    std::optional<u64> unpacked_limit = std::nullopt;  // as open_input() has it
    // Files whose headers contradict each other about the machine or its boot are read together
    // nevertheless. .etl files that do not share a clock keep their own times, and nothing is named
    // by what events of another file say. The same is true of .ctrace files that are not of one
    // run, whose processors are numbered separately.
    bool force = false;
  };

  using Failure = TraceFailure;

  // Opens the file by its contents.
  static core::Expected<AnyTrace, Failure> open(const std::string& path, const Options& options,
                                                core::Findings& findings);
  static core::Expected<AnyTrace, Failure> open(std::unique_ptr<core::ImageSource> file,
                                                const Options& options, core::Findings& findings);
  struct Rejected {
    std::string name;
    Failure failure;
  };
  // Of several files, those that are not traces are rejected(); fails if none is left, or if they
  // do not share one machine's clock: with all that were rejected and, at the end, what stopped the
  // rest.
  static core::Expected<AnyTrace, std::vector<Rejected>> open(std::vector<InputFile> files,
                                                              const Options& options,
                                                              core::Findings& findings);

  // In the order of Event::file: by the start of their sessions. If there are several, each has its
  // own findings, which are also among those of open().
  [[nodiscard]] const std::vector<InputFile>& files() const { return files_; }
  [[nodiscard]] const std::vector<Rejected>& rejected() const { return rejected_; }
  // The path, with the member of an archive, or how many there are.
  [[nodiscard]] std::string name() const;

  // One of the two is not null.
  [[nodiscard]] const Trace* etl() const { return etl_.get(); }
  [[nodiscard]] const Ctrace* ctrace() const { return ctrace_.get(); }

  // False for .etl files of several clocks and .ctrace files of several machines or boots: ids of
  // processes and threads then do not tell who is who.
  [[nodiscard]] bool is_one_run() const {
    return etl_ ? etl_->has_one_clock() : ctrace_->is_one_run();
  }

  // "etl" or "ctrace".
  [[nodiscard]] std::string_view format() const { return etl_ ? "etl" : "ctrace"; }

  [[nodiscard]] const Clock& clock() const { return etl_ ? etl_->clock() : ctrace_->clock(); }
  [[nodiscard]] const NameTables& names() const { return etl_ ? etl_->names() : ctrace_->names(); }
  [[nodiscard]] const SchemaSource& schemas() const;
  // Of the session; nothing if its header is lost.
  [[nodiscard]] std::optional<core::FileTime> start_time() const;
  [[nodiscard]] u64 events() const { return etl_ ? etl_->events() : ctrace_->events(); }
  [[nodiscard]] u64 events_of(std::size_t file) const;
  // Buffers of .ctrace files are lost where their numbers have a gap.
  [[nodiscard]] LostCount events_lost() const;
  [[nodiscard]] LostCount buffers_lost() const;

  // Empty unless the options ask for it.
  [[nodiscard]] const std::vector<KindCount>& kinds() const {
    return etl_ ? etl_->kinds() : ctrace_->kinds();
  }

  // Of manifest events and WPP messages, in .ctrace files of those that ETW gave to a driver; empty
  // unless the options ask for it.
  [[nodiscard]] const std::set<SchemaKey>& schema_keys() const;
  // With the texts of WPP messages, according to the trace.
  [[nodiscard]] const std::set<MessagePdb>& message_pdbs() const;
  // The same as kinds(), with other schemas; reads the whole trace.
  [[nodiscard]] std::vector<KindCount> count_kinds(const SchemaSource& schemas) const;

  // That of the first .ctrace file, or of the .etl file whose clock is the trace's; nothing if the
  // header is lost.
  [[nodiscard]] std::optional<TracedMachine> machine() const;
  // "10.0.19045" and its first part "10.0", of the machine that was traced; empty if no header
  // says, or if several files differ in it.
  [[nodiscard]] std::string windows_build() const;
  [[nodiscard]] std::string windows_version() const;

  // Reads the trace, which must outlive the result, from its beginning.
  [[nodiscard]] std::unique_ptr<EventSequence> stream(const StreamOptions& options) const;

 private:
  AnyTrace() = default;

  // Nothing where there is no failure.
  std::optional<Failure> open_one(const Options& options, core::Findings& findings);
  std::optional<Failure> merge(const Options& options, core::Findings& findings);
  std::optional<Failure> merge_ctraces(const Options& options, core::Findings& findings);
  // For a file beside .ctrace files that is not one; nothing if it is not a trace, in which case it
  // is rejected.
  std::optional<Failure> refuse_other(InputFile& file, const std::string& ctrace,
                                      const Options& options);
  // For a file beside the first one.
  std::optional<Failure> refuse(const BufferScan& first, const InputFile& file, BufferScan& scan,
                                const Options& options, core::Findings& findings) const;

  std::vector<InputFile> files_;
  std::vector<Rejected> rejected_;
  std::unique_ptr<Trace> etl_;
  std::unique_ptr<Ctrace> ctrace_;
  std::set<SchemaKey> inner_keys_;  // of .ctrace files
};

}  // namespace coldtrace::tracefile
