#include "coldtrace/core/sorted_lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <queue>

namespace coldtrace::core {
namespace {

// A line in a run: its key, the size of its text, the text.
struct Head {
  u64 key;
  u64 size;
};
constexpr std::size_t write_size = std::size_t{1} << 20;
constexpr std::size_t least_read = std::size_t{16} << 10;

// The lines of one run, one after the other.
class RunReader {
 public:
  RunReader(const TemporaryFile& file, u64 start, u64 end, std::size_t piece)
      : file_{file}, at_{start}, end_{end}, piece_{piece} {}

  bool at_end() const { return used_ == buffer_.size() && at_ == end_; }
  u64 key() const { return head_.key; }
  std::string_view text() const { return std::string_view{buffer_}.substr(text_, head_.size); }

  // Not at the end.
  Result<Done> next() {
    COLDTRACE_TRY(fill(sizeof head_));
    std::memcpy(&head_, buffer_.data() + used_, sizeof head_);
    used_ += sizeof head_;
    COLDTRACE_TRY(fill(head_.size));
    text_ = used_;
    used_ += head_.size;
    return Done{};
  }

 private:
  Result<Done> fill(std::size_t wanted) {
    if (buffer_.size() - used_ >= wanted) return Done{};
    buffer_.erase(0, used_);
    used_ = 0;
    const auto kept = buffer_.size();
    const auto more = std::min<u64>(std::max(piece_, wanted), end_ - at_);
    buffer_.resize(kept + more);
    const auto read = file_.read_at(at_, std::as_writable_bytes(std::span{buffer_}.subspan(kept)));
    if (!read) return fail(read.error());
    at_ += more;
    return Done{};
  }

  const TemporaryFile& file_;
  u64 at_, end_;
  std::size_t piece_;
  std::string buffer_;
  std::size_t used_ = 0;
  std::size_t text_ = 0;
  Head head_{};
};

}  // namespace

Result<Done> SortedLines::add(u64 key, std::string_view text) {
  lines_.push_back({key, text_.size(), static_cast<u32>(text.size())});
  text_ += text;
  const auto used = text_.size() + lines_.size() * sizeof(Line);
  return used < most_in_memory_ ? Result<Done>{Done{}} : spill();
}

void SortedLines::sort() {
  std::ranges::stable_sort(lines_, {}, &Line::key);
}

Result<Done> SortedLines::spill() {
  if (!file_) {
    auto file = TemporaryFile::create();
    if (!file) return fail(file.error());
    file_ = std::move(*file);
  }
  sort();
  std::string piece;
  const auto write = [&]() -> Result<Done> {
    const auto written = file_->append(std::as_bytes(std::span{piece}));
    piece.clear();
    return written;
  };
  for (const auto& line : lines_) {
    const Head head{line.key, line.size};
    const auto bytes = std::bit_cast<std::array<char, sizeof head>>(head);
    piece.append(bytes.data(), bytes.size());
    piece += text_of(line);
    if (piece.size() >= write_size) COLDTRACE_TRY(write());
  }
  COLDTRACE_TRY(write());
  runs_.push_back(file_->size());
  lines_.clear();
  text_.clear();
  return Done{};
}

Result<Done> SortedLines::merge(const std::function<void(std::string_view)>& visit) {
  const auto piece = std::max(least_read, most_in_memory_ / runs_.size());
  std::vector<RunReader> readers;
  readers.reserve(runs_.size());
  // The least key first; of equal ones that of the run that was written first.
  struct Next {
    u64 key;
    std::size_t run;
    bool operator<(const Next& other) const {
      return key != other.key ? key > other.key : run > other.run;
    }
  };
  std::priority_queue<Next> queue;
  u64 start = 0;
  const auto advance = [&](std::size_t run) -> Result<Done> {
    if (readers[run].at_end()) return Done{};
    COLDTRACE_TRY(readers[run].next());
    queue.push({readers[run].key(), run});
    return Done{};
  };
  for (const auto end : runs_) {
    readers.emplace_back(*file_, start, end, piece);
    start = end;
    COLDTRACE_TRY(advance(readers.size() - 1));
  }
  while (!queue.empty()) {
    const auto run = queue.top().run;
    queue.pop();
    visit(readers[run].text());
    COLDTRACE_TRY(advance(run));
  }
  return Done{};
}

Result<Done> SortedLines::take(const std::function<void(std::string_view)>& visit) {
  Result<Done> done{Done{}};
  if (runs_.empty()) {
    sort();
    for (const auto& line : lines_) visit(text_of(line));
  } else {
    if (!lines_.empty()) done = spill();
    if (done) done = merge(visit);
  }
  lines_.clear();
  text_.clear();
  runs_.clear();
  file_.reset();
  return done;
}

}  // namespace coldtrace::core
