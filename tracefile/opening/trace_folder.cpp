#include <algorithm>
#include <filesystem>
#include <set>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/folder_files.hpp"
#include "coldtrace/tracefile/opening/input_file.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::tracefile {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 1'000'000;

// What cannot be read is one where its name says so, to be told of when it is opened.
bool is_trace(const fs::path& path, core::Findings& findings) {
  using core::FileKind;
  const auto name = core::to_lower(path.filename().string());
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  const auto file = core::FileImage::open(path.string());
  const bool is_named = has(".etl") || has(".ctrace") || has(".diagsession");
  const auto kind = file ? core::recognize_file(**file) : core::fail(file.error());
  if (!kind && !is_named)
    findings.warning("folder-unreadable", std::nullopt, "{}: {}", path.string(), kind.error());
  if (!kind || is_unpackable(*kind)) return is_named;
  return *kind == FileKind::event_trace || *kind == FileKind::ctrace ||
         (*kind == FileKind::unknown && (name.ends_with(".etl") || name.ends_with(".ctrace")));
}

}  // namespace

core::Result<std::vector<std::string>> find_traces(const std::string& folder,
                                                   core::Findings& findings) {
  auto found = COLDTRACE_TRY(core::find_files_below(folder, most_files, findings));
  if (found.has_more)
    return core::fail({core::Fault::limit, 0, "folder", "files", most_files, most_files + 1});
  std::erase_if(found.files, [&](const std::string& path) {
    std::error_code ignored;
    return fs::is_symlink(path, ignored) || !is_trace(path, findings);
  });
  return std::move(found.files);
}

TracePaths find_trace_files(const std::vector<std::string>& given) {
  TracePaths found;
  std::set<std::string> known;
  const auto add = [&](const std::string& path) {
    std::error_code error;
    const auto canonical = fs::canonical(path, error);
    if (error || known.insert(canonical.string()).second) found.files.push_back(path);
  };
  for (const auto& path : given) {
    std::error_code ignored;
    if (path == "-" || !fs::is_directory(path, ignored)) {
      add(path);
      continue;
    }
    TraceFolder folder{path, std::size_t{0}, {}};
    const auto traces = find_traces(path, folder.findings);
    if (traces) {
      folder.traces = traces->size();
      std::ranges::for_each(*traces, add);
    } else {
      folder.traces = core::fail(traces.error());
    }
    found.folders.push_back(std::move(folder));
  }
  return found;
}

}  // namespace coldtrace::tracefile
