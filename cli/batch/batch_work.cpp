#include "cli/batch/batch_work.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command/finding_codes.hpp"
#include "cli/output/output.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "coldtrace/digests/digest.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t piece_size = std::size_t{1} << 20;

// Adds all bytes of a file; how many, or nothing where it is not a file or cannot be read.
std::optional<u64> hash_file(digests::Digest& digest, const std::string& path, bool keep) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW * keep | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::vector<std::byte> piece(piece_size);
  u64 size = 0;
  ssize_t count = 0;
  do {
    count = ::read(descriptor, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) digest.add(std::span{piece}.first(static_cast<std::size_t>(count)));
    size += count > 0 ? static_cast<u64>(count) : 0;
  } while (count != 0 && (count > 0 || errno == EINTR));
  const bool kept = !keep || ::fsync(descriptor) == 0;
  if (!kept) note_unwritable("cannot write: " + std::generic_category().message(errno));
  ::close(descriptor);
  return count == 0 && kept ? std::optional{size} : std::nullopt;
}

std::optional<ResultFile> hash_result(const std::string& path) {
  auto digest = *digests::Digest::make("sha256");
  const auto size = hash_file(digest, path, true);
  if (!size) return std::nullopt;
  return ResultFile{{}, *size, digest.take()};
}

std::string input_line(const std::vector<std::string>& hashed) {
  if (hashed.empty()) return {};
  auto digest = *digests::Digest::make("sha256");
  for (const auto& part : hashed)
    if (!hash_file(digest, part, false)) return {};
  return fmt::format("input {}\n", digest.take());
}

void send(int answer, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(answer, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const auto end = std::min(line.find(' '), line.size());
    fields.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return fields;
}

std::optional<u64> number_of(std::string_view text) {
  u64 number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

int work_on_input(const RunProgram& run, const WorkOrder& order, int answer) {
  FindingTally tally;
  tally_findings(&tally);
  read_after_run() = order.hashed;
  read_after_run().push_back(std::filesystem::path{order.output}.parent_path().string());
  static_cast<void>(take_unwritable());
  const auto exit = run(order.words);
  tally_findings(nullptr);
  std::string text;
  for (const auto& [key, count] : tally)
    text += fmt::format("finding {} {} {}\n", key.first, key.second, count);
  if (exit != Exit::failure)
    if (const auto result = hash_result(order.output))
      text += fmt::format("output {} {}\n", result->size, result->sha256);
  text += input_line(order.hashed);
  if (const auto why = take_unwritable(); !why.empty()) text += fmt::format("unwritable {}\n", why);
  send(answer, text);
  return static_cast<int>(exit);
}

int check_result(const std::string& output, const ResultFile& expected,
                 const std::vector<std::string>& hashed, int answer) {
  const auto result = hash_result(output);
  send(answer, input_line(hashed));
  return result && result->size == expected.size && result->sha256 == expected.sha256 ? 0 : 1;
}

WorkAnswer read_answer(std::string_view text) {
  WorkAnswer answer;
  constexpr std::string_view unwritable = "unwritable ";
  for (; text.find('\n') != text.npos; text.remove_prefix(text.find('\n') + 1)) {
    const auto line = text.substr(0, text.find('\n'));
    const auto fields = fields_of(line);
    if (line.starts_with(unwritable)) {
      answer.unwritable = line.substr(unwritable.size());
    } else if (fields.size() == 2 && fields[0] == "input" && is_sha256(fields[1])) {
      answer.input_sha256 = fields[1];
    } else if (fields.size() == 3 && fields[0] == "output" && is_sha256(fields[2])) {
      if (const auto size = number_of(fields[1]))
        answer.result = ResultFile{{}, *size, std::string{fields[2]}};
    } else if (fields.size() == 4 && fields[0] == "finding" &&
               is_finding_code(std::string{fields[1]}) &&
               (fields[2] == "info" || fields[2] == "warning")) {
      answer.findings[{std::string{fields[1]}, std::string{fields[2]}}] =
          number_of(fields[3]).value_or(0);
    }
  }
  return answer;
}

}  // namespace coldtrace::cli
