#include "cli/batch/batch_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/batch/durable_files.hpp"
#include "cli/command/default_format.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/folder_files.hpp"
#include "coldtrace/core/text.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view own_folder = "_batch";

// What --format of the command says, or rows that programs read for a tree of partitions.
std::string choose_format(const BatchedCommand& command, bool hive) {
  if (!command.given_format.empty()) return command.given_format;
  if (hive)
    for (const auto* const format : {"ndjson", "json"})
      if (std::ranges::find(command.formats, format) != command.formats.end()) return format;
  return command.formats.front();
}

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

[[noreturn]] void fail_on(const std::string& path, std::string_view what, int code) {
  throw Failure{fmt::format("{}: {}: {}", path, what, std::generic_category().message(code))};
}

// Whether another process holds the lock of a file. Throws where that cannot be told.
bool is_locked(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return false;
  auto lock = whole_file(F_WRLCK);
  const bool known = descriptor >= 0 && ::fcntl(descriptor, F_GETLK, &lock) == 0;
  const int code = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!known) fail_on(path, "cannot be asked for its lock", code);
  return lock.l_type != F_UNLCK;
}

// What is in a folder of the program's own; nothing where it is not made yet. Throws where it
// cannot be listed.
std::vector<core::ListedEntry> list_own(const std::string& folder) {
  auto entries = core::list_folder(folder);
  if (entries) return std::move(*entries);
  if (!core::is_no_folder(entries.error()))
    fail_on(folder, "cannot be listed", entries.error().value());
  return {};
}

// Takes the lock of a file, which is made; -1 where another process has it.
int take_lock(const std::string& path, bool wait) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  auto lock = whole_file(F_WRLCK);
  if (descriptor >= 0 && ::fcntl(descriptor, wait ? F_SETLKW : F_SETLK, &lock) == 0)
    return descriptor;
  const int code = errno;
  if (descriptor >= 0) {
    ::close(descriptor);
    if (code == EAGAIN || code == EACCES) return -1;
  }
  fail_on(path, "cannot be locked", code);
}

std::string command_text(const ManifestHead& head) {
  return fmt::format("{} ({}{})", fmt::join(head.command, " "), head.format,
                     head.compression == "none" ? "" : ", " + head.compression);
}

}  // namespace

BatchFolder::BatchFolder(const BatchOptions& options, const BatchedCommand& command)
    : folder_{options.folder},
      shard_{fmt::format("{}-of-{}", options.shard.number, options.shard.of)},
      is_whole_{options.shard.of == 1},
      hive_{options.hive},
      whole_paths_{options.whole_paths} {
  while (folder_.size() > 1 && folder_.back() == '/') folder_.pop_back();
  head_.kind = command.kind();
  head_.command = command.path;
  head_.command.insert(head_.command.end(), command.rest.begin(), command.rest.end());
  for (auto& word : head_.command) word = core::to_valid_utf8(word);
  head_.format = choose_format(command, hive_);
  head_.compression = !options.compression.empty() ? options.compression
                      : hive_                      ? "zstandard"
                                                   : "none";
  head_.layout = hive_ ? "hive" : "plain";
  ending_ = ending_of_format(head_.format);
  if (head_.compression == "gzip") ending_ += ".gz";
  if (head_.compression == "zstandard") ending_ += ".zst";
  command_folder_ = fmt::format("{}/{}/{}", folder_, own_folder, head_.kind);
  refuse_other_commands();
}

BatchFolder::~BatchFolder() {
  if (!work_.empty()) {
    std::error_code ignored;
    fs::remove_all(work_, ignored);
  }
  if (lock_ >= 0) ::close(lock_);
}

// A run works there, or an earlier one has results: where no input could be read there are none.
bool is_in_use(const std::string& command_folder) {
  core::Findings unused;  // of whoever runs that command
  for (const auto& each : list_own(command_folder)) {
    const auto name = each.path().filename().string();
    if (name.starts_with("lock-") && is_locked(each.path().string())) return true;
    if (!name.starts_with("manifest") || !name.ends_with(".ndjson")) continue;
    const auto manifest = read_manifest(each.path().string(), unused);
    if (!unused.empty()) return true;
    if (manifest && std::ranges::any_of(manifest->entries,
                                        [](const auto& entry) { return entry.second.is_done(); }))
      return true;
  }
  return false;
}

// Their results would have the same names.
void BatchFolder::refuse_other_commands() const {
  if (hive_) return;
  for (const auto& each : list_own(fmt::format("{}/{}", folder_, own_folder))) {
    const auto kind = each.path().filename().string();
    if (kind != head_.kind && is_in_use(each.path().string()))
      throw Failure{
          fmt::format("{}: already has results of '{}'; name another folder, or give all its "
                      "commands --out-layout hive",
                      folder_, kind)};
  }
}

std::vector<std::string> BatchFolder::names(std::string_view start, std::string_view end) const {
  std::vector<std::string> found;
  for (const auto& each : list_own(command_folder_)) {
    auto name = each.path().filename().string();
    if (name.starts_with(start) && name.ends_with(end)) found.push_back(std::move(name));
  }
  std::ranges::sort(found);
  return found;
}

// Each run holds its own lock when it looks for others: of two, one at least sees the other.
void BatchFolder::refuse_other_shards() const {
  const auto own = "lock-" + shard_;
  const auto of = shard_.substr(shard_.find("-of-"));
  for (const auto& name : names("lock-", ""))
    if (name != own && (is_whole_ || !name.ends_with(of)) &&
        is_locked(fmt::format("{}/{}", command_folder_, name)))
      throw Failure{fmt::format("{}: another run works on these inputs, in other shards ({})",
                                folder_, name.substr(5))};
}

// Of two commands that begin at once, one has the lock of its own folder, and the other sees it.
void BatchFolder::claim() {
  const int lock = take_lock(fmt::format("{}/{}/lock-commands", folder_, own_folder), true);
  try {
    refuse_other_commands();
    make_folders(command_folder_);
    lock_ = take_lock(lock_path(), false);
  } catch (...) {
    ::close(lock);
    throw;
  }
  ::close(lock);
}

void BatchFolder::enter(bool wait) {
  std::error_code ignored;
  if (!fs::is_directory(folder_, ignored)) make_folders(folder_);
  make_folders(fmt::format("{}/{}", folder_, own_folder));
  claim();
  if (lock_ < 0 && wait) {
    lock_ = take_lock(lock_path(), true);
    refuse_other_commands();
  }
  if (lock_ < 0)
    throw Failure{
        fmt::format("{}: another run works on these inputs; --wait waits for its end", folder_)};
  refuse_other_shards();
  remove_leftovers();
  auto work = fmt::format("{}/work-{}-XXXXXX", command_folder_, shard_);
  if (::mkdtemp(work.data()) == nullptr) fail_on(work, "cannot write", errno);
  work_ = work;
}

void BatchFolder::remove_leftovers() const {
  std::error_code ignored;
  for (const auto& name : names(fmt::format("work-{}-", shard_), ""))
    fs::remove_all(fmt::format("{}/{}", command_folder_, name), ignored);
}

std::string BatchFolder::lock_path() const {
  return fmt::format("{}/lock-{}", command_folder_, shard_);
}

std::string BatchFolder::manifest() const {
  return fmt::format("{}/manifest{}.ndjson", command_folder_, is_whole_ ? "" : "-" + shard_);
}

BatchEntries BatchFolder::read(std::vector<std::string>& own, core::Findings& findings) const {
  BatchEntries all;
  own.clear();
  for (const auto& name : names("manifest", ".ndjson")) {
    const auto path = fmt::format("{}/{}", command_folder_, name);
    auto manifest = read_manifest(path, findings);
    if (!manifest) continue;
    if (manifest->head != head_)
      throw Failure{fmt::format("{}: has results of another command line, {}; name another folder",
                                folder_, command_text(manifest->head))};
    for (auto& [key, entry] : manifest->entries) {
      if (path == this->manifest()) own.push_back(key);
      const auto [known, is_new] = all.emplace(key, entry);
      if (!is_new && known->second.keeps_name() && entry.keeps_name() &&
          !is_same_input(known->second.input, entry.input))
        refuse_same_name(known->second.input, {entry.input, key, {}}, whole_paths_);
      if (!is_new && !known->second.is_done()) known->second = entry;
    }
  }
  return all;
}

void BatchFolder::write_manifest(const BatchEntries& entries, const ManifestEnd* end,
                                 bool whole) const {
  write_file_durably(manifest(), work_ + "/manifest", manifest_text(head_, entries, end));
  if (!whole) return;
  std::error_code ignored;
  for (const auto& name : names("manifest-", ".ndjson"))
    fs::remove(fmt::format("{}/{}", command_folder_, name), ignored);
}

std::string BatchFolder::result_path(const std::string& name) const {
  return hive_ ? fmt::format("kind={}/image={}/part{}", head_.kind, name, ending_) : name + ending_;
}

std::string BatchFolder::work_path(std::size_t index) const {
  return fmt::format("{}/{}{}", work_, index, ending_);
}

}  // namespace coldtrace::cli
