#include "cli/hooks/profile_file.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/command/output_guard.hpp"
#include "cli/command/standard_input.hpp"
#include "cli/output/text.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookProfile;
using syscall_map::ProfileError;
using syscall_map::ProfileSource;

core::Expected<ProfileSource, std::string> read_source(const std::string& path, u64 cap) {
  const auto bytes = core::read_whole_file(path, cap);
  if (!bytes && bytes.error().fault == core::Fault::io)
    return core::fail(std::generic_category().message(static_cast<int>(bytes.error().found)));
  if (!bytes)
    return core::fail(fmt::format("larger than the {} bytes that such a file may have", cap));
  std::error_code error;
  const auto canonical = std::filesystem::canonical(path, error);
  return ProfileSource{path, error ? path : canonical.string(),
                       std::string{core::to_chars(*bytes)}};
}

// A pipe is read once, and what it includes is known too late for the sandbox to leave it readable.
bool is_piped(const std::string& path) {
  std::error_code ignored;
  return path == "-" || !std::filesystem::is_regular_file(path, ignored);
}

bool is_in_current_folder(const std::filesystem::path& path) {
  std::error_code error;
  const auto from_here = std::filesystem::relative(path, error);
  return !error && !from_here.empty() && *from_here.begin() != "..";
}

// What is not a regular file is not even opened: a pipe would wait for ever. So would some files
// that the system makes up when they are read, which have no size: they count as empty.
core::Expected<ProfileSource, std::string> read_include(const std::string& including,
                                                        const std::string& included, bool piped) {
  const auto path = std::filesystem::path{including}.parent_path() / included;
  const auto refuse = [&](const std::string& why) {
    return core::fail(fmt::format("{}: {}", path.string(), why));
  };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error) return refuse(error.message());
  if (!std::filesystem::is_regular_file(status)) return refuse("not a regular file");
  if (std::filesystem::file_size(path, error) == 0)
    return ProfileSource{path.string(), path.string(), {}};
  auto source = read_source(path.string(), syscall_map::largest_profile_file);
  if (!source && piped && is_sandbox_possible() && !is_in_current_folder(path))
    return refuse(source.error() +
                  "; a profile that is not read from a file may include only files of the current "
                  "folder: save it as a file and name that, or use --no-sandbox");
  if (!source) return refuse(source.error());
  return source;
}

// `included` gets the paths of the other files.
core::Expected<HookProfile, ProfileError> read_all(ProfileSource source, bool piped,
                                                   std::vector<std::string>& included) {
  return syscall_map::read_profile(std::move(source),
                                   [&](const std::string& including, const std::string& name) {
                                     auto file = read_include(including, name, piped);
                                     if (file) included.push_back(file->path);
                                     return file;
                                   });
}

}  // namespace

ProfileSource open_source(const std::string& path, u64 cap) {
  auto source = read_source(readable_path(path), cap);
  if (!source) throw Failure{fmt::format("{}: {}", path, source.error())};
  source->path = path;
  return std::move(*source);
}

core::Expected<HookProfile, ProfileError> read_profile_file(const std::string& path,
                                                            const CommonOptions& options) {
  std::vector<std::string> included;
  auto profile =
      read_all(open_source(path, syscall_map::largest_profile_file), is_piped(path), included);
  guard_output(options.output, options.format, included);
  return profile;
}

void leave_profiles(Command& command, std::function<std::vector<std::string>()> profiles) {
  command.before_sandbox([profiles = std::move(profiles)](SandboxNeeds& needs) {
    needs.find_more_inputs.emplace_back([&profiles](SandboxNeeds& more) {
      for (const auto& path : profiles()) {
        if (is_piped(path))
          more.inputs.emplace_back(".");
        else if (auto source = read_source(path, syscall_map::largest_profile_file))
          (void)read_all(std::move(*source), false, more.inputs);
      }
    });
  });
}

HookProfile open_profile(const std::string& path, const CommonOptions& options) {
  auto profile = read_profile_file(path, options);
  if (!profile) throw Failure{to_string(profile.error())};
  return std::move(*profile);
}

void add_profile_option(Command& command, std::vector<std::string>& profiles) {
  command
      .add_input("--profile", profiles,
                 "Only the services that these hook profiles select ('coldtrace hooks profile')")
      .repeatable();
  leave_profiles(command, [&profiles] { return profiles; });
}

std::vector<HookProfile> open_profiles(const std::vector<std::string>& paths,
                                       const CommonOptions& options) {
  std::vector<HookProfile> profiles;
  for (const auto& path : paths) profiles.push_back(open_profile(path, options));
  return profiles;
}

syscall_map::ProfileSelection select(const HookProfile& profile,
                                     const syscall_map::ServiceCatalogue& catalogue) {
  syscall_map::ServiceChoice choice{catalogue};
  return select(profile, catalogue, choice);
}

syscall_map::ProfileSelection select(const HookProfile& profile,
                                     const syscall_map::ServiceCatalogue& catalogue,
                                     syscall_map::ServiceChoice& choice) {
  auto selection = choice.add(profile);
  if (!selection)
    throw Failure{fmt::format("{}: it has too many globs to compare with the names of {}",
                              profile.files.front(),
                              counted(catalogue.services().size(), "service", "services"))};
  return std::move(*selection);
}

void write_profile_rule(JsonWriter& json, const HookProfile& profile,
                        const HookProfile::Rule& rule) {
  json.begin_object()
      .field("path", FileText{profile.files[rule.file]})
      .field("line", rule.text.place.line)
      .field("column", rule.text.place.column)
      .field("rule", to_text(rule.text))
      .end_object();
}

}  // namespace coldtrace::cli
