#include "cli/ntfs/compare/compared_input.hpp"

#include <algorithm>

#include <fmt/ranges.h>
#include <rapidjson/document.h>

#include "cli/ntfs/compare/snapshot_row.hpp"
#include "cli/ntfs/snapshot_reader.hpp"
#include "cli/ntfs/snapshot_values.hpp"
#include "cli/ntfs/visited_volumes.hpp"
#include "cli/output/json_members.hpp"
#include "coldtrace/ntfs/comparison/volume_files.hpp"
#include "coldtrace/ntfs_privacy/hashed_comparison.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;
using Volumes = std::vector<ComparedVolume>;

// A temporary file that cannot be written or read ends the run.
template <class T>
T checked(core::Result<T> result) {
  if (!result) throw Failure{to_message(result.error())};
  return std::move(*result);
}

// By what names were hashed: equal names have equal hashes where both agree.
std::string names_key(std::string_view key_check, bool keeps_extensions) {
  return fmt::format("{}{}", key_check, keeps_extensions ? " with extensions" : "");
}
std::string names_key(const privacy::HashedNames& names) {
  return names_key(names.key_check(), names.keeps_extensions());
}
std::string names_key(const Value& names) {
  const auto* keeps = find_member(names, "keep_extensions", &Value::IsBool);
  return names_key(text_member(names, "key_check"), keeps != nullptr && keeps->GetBool());
}

std::optional<Volumes> read_image(const DiskOptions& options, GivenFile given,
                                  const privacy::HashedNames* names, unsigned jobs,
                                  core::Findings& findings, Report& report) {
  auto file = open_given_image(options, std::move(given), findings, report);
  if (!file) return std::nullopt;
  const auto input = find_volumes(options, std::move(*file), findings, report);
  if (!input) return std::nullopt;
  ntfs::ChangeFile change;
  if (names != nullptr) change = [names](ntfs::ComparedFile& one) { hash_names(one, *names); };
  Volumes volumes;
  const auto unopened = visit_volumes(
      *input, options,
      [&](const ntfs::Partition& partition, const ntfs::Volume& volume,
          const core::Findings& of_volume) {
        findings.merge(of_volume);
        const auto& boot = volume.boot();
        volumes.push_back(
            {{options.image, partition, volume},
             boot && !boot->inferred ? fmt::format("{:016x}", boot->serial_number) : "",
             checked(read_compared_files(volume, jobs, findings, change)),
             names != nullptr ? names_key(*names) : ""});
      });
  input->file.add_findings(findings);
  findings.merge(unopened.report(options.image, !volumes.empty(), report));
  if (volumes.empty()) {
    report.tell(options.image, findings);
    return std::nullopt;
  }
  return volumes;
}

// Reads the lines of a snapshot.
class ComparedLines {
 public:
  // Of a `partition` that was asked for, or of all.
  ComparedLines(std::string_view path, std::optional<u32> partition,
                const privacy::HashedNames* names, MistypedMembers& mistyped)
      : path_{path}, partition_{partition}, names_{names}, mistyped_{mistyped} {}

  bool begin(const SnapshotHeader& header, const Value& json) {
    const auto* hashed = find_member(json, "names", &Value::IsObject);
    hashed_ = hashed != nullptr;
    const auto key = hashed_             ? names_key(*hashed)
                     : names_ != nullptr ? names_key(*names_)
                                         : std::string{};
    const auto* volume = find_member(json, "volume", &Value::IsObject);
    volumes_.push_back({header.name(path_), volume ? text_member(*volume, "serial_number") : "",
                        checked(ntfs::ComparedFiles::create()), key});
    return true;
  }

  // False where the line is needed and cannot be used.
  bool read(std::string_view type, const Value& json) {
    if (type == "gap") volumes_.back().files.add_gap(read_snapshot_gap(json));
    if (type != "file") return true;
    if (!json.HasMember("state")) lacking_.needed = " state";
    const auto state = read_snapshot_state(json, mistyped_);
    if (state == ntfs::State::unreachable || state == ntfs::State::detached) add_unlisted(json);
    if (state != ntfs::State::live) return true;
    if (!is_chosen()) return true;
    if (!read_compared_file(json, file_, lacking_, mistyped_)) return false;
    if (hashed_)
      forget_stripped(file_);
    else if (names_ != nullptr)
      hash_names(file_, *names_);
    checked(volumes_.back().files.add(file_));
    return true;
  }

  // Why nothing can be compared, though lines could be read; empty where it can.
  std::string refusal() const {
    if (std::ranges::none_of(volumes_, [&](const auto& volume) { return is_chosen(volume); }))
      return fmt::format("the snapshot has no volume of partition {}", partition_.value_or(0));
    if (names() == 0 && !lacking_.needed.empty())
      return fmt::format(
          "rows lack members that identify their files:{}. Take the snapshot without "
          "--fields",
          lacking_.needed);
    return {};
  }

  // The volumes, all lines of which were read.
  Volumes take(const SnapshotReader& reader, core::Findings& findings) {
    if (reader.whole()) reader.names().report_compared(findings);
    if (lacking_.any())
      findings.warning("compare-members", std::nullopt,
                       "rows of the snapshot lack members, which are not compared:{}{}{}{}{}",
                       lacking_.times ? " si" : "", lacking_.attributes ? " attributes" : "",
                       lacking_.streams ? " streams" : "", lacking_.others.empty() ? "" : " ",
                       fmt::join(lacking_.others, " "));
    reader.report_damage(findings);
    mistyped_.report(findings);
    std::erase_if(volumes_, [&](const auto& volume) { return !is_chosen(volume); });
    const bool all_unlisted = reader.whole() && reader.names().has_all(ntfs::State::unreachable) &&
                              reader.names().has_all(ntfs::State::detached);
    for (auto& volume : volumes_) checked(volume.files.finish(all_unlisted));
    return std::move(volumes_);
  }

 private:
  void add_unlisted(const Value& json) {
    auto& files = volumes_.back().files;
    const auto record = number_member(json, "record");
    const auto sequence = number_member(json, "sequence");
    if (files.has_gaps() && record && sequence)
      files.add_unlisted({*record, static_cast<u16>(*sequence)});
  }

  bool is_chosen(const ComparedVolume& volume) const {
    return !partition_ || volume.name.partition == *partition_;
  }
  bool is_chosen() const { return is_chosen(volumes_.back()); }

  u64 names() const {
    u64 sum = 0;
    for (const auto& volume : volumes_) sum += volume.files.names();
    return sum;
  }

  std::string_view path_;
  std::optional<u32> partition_;
  const privacy::HashedNames* names_;
  bool hashed_ = false;  // those of the current volume are, in the snapshot
  Volumes volumes_;
  ntfs::ComparedFile file_;
  LackingMembers lacking_;
  MistypedMembers& mistyped_;
};

std::optional<Volumes> read_lines(const DiskOptions& options, const core::ImageSource& file,
                                  const privacy::HashedNames* names, core::Findings& findings,
                                  Report& report) {
  const auto& path = options.image;
  MistypedMembers mistyped;
  SnapshotReader reader{file, mistyped};
  ComparedLines compared{path, options.partition, names, mistyped};
  const bool read = reader.read_all(
      Int64::number,
      [&](const SnapshotHeader& header, const Value& json) { return compared.begin(header, json); },
      [&](std::string_view type, const Value& json) { return compared.read(type, json); });
  if (!read) {
    report.failed(path, reader.why_none());
    return std::nullopt;
  }
  auto refusal = reader.refusal();
  if (refusal.empty()) refusal = compared.refusal();
  if (!refusal.empty()) {
    report.failed(path, refusal);
    return std::nullopt;
  }
  reader.report_whole(findings);
  return compared.take(reader, findings);
}

}  // namespace

std::optional<Volumes> read_compared(const DiskOptions& options, const privacy::HashedNames* names,
                                     unsigned jobs, core::Findings& findings, Report& report) {
  auto given = open_given(options, findings, report);
  if (!given) return std::nullopt;
  if (given->is_snapshot() && !options.shadows.empty()) {
    report.failed(options.image, "it is a snapshot; only images have shadow copies");
    return std::nullopt;
  }
  return given->is_snapshot()
             ? read_lines(options, *given->bytes, names, findings, report)
             : read_image(options, std::move(*given), names, jobs, findings, report);
}

}  // namespace coldtrace::cli
