// The gain of handling several digits, characters or places at once instead of one by one: each
// trick and its plain counterpart in one run.

#include <algorithm>
#include <charconv>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "cli/output/csv_text.hpp"
#include "cli/output/json_text.hpp"
#include "coldtrace/core/decimal.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/signatures/signature_scanner.hpp"

namespace coldtrace {
namespace {

// Numbers with one to `digits` digits, in equal parts.
std::vector<u64> numbers(i64 digits) {
  std::mt19937_64 random{1};
  std::vector<u64> all(4096);
  for (auto& number : all) {
    u64 limit = 10;
    for (auto more = random() % static_cast<u64>(digits); more > 0; --more) limit *= 10;
    number = random() % limit;
  }
  return all;
}

void decimal_at_once(benchmark::State& state) {
  const auto all = numbers(state.range(0));
  char text[core::longest_decimal];
  for (auto _ : state)
    for (const auto number : all) benchmark::DoNotOptimize(core::write_decimal(text, number));
  state.SetItemsProcessed(state.iterations() * static_cast<i64>(all.size()));
}
BENCHMARK(decimal_at_once)->Arg(3)->Arg(8)->Arg(18);

void decimal_to_chars(benchmark::State& state) {
  const auto all = numbers(state.range(0));
  char text[core::longest_decimal];
  for (auto _ : state)
    for (const auto number : all)
      benchmark::DoNotOptimize(std::to_chars(text, text + sizeof(text), number).ptr);
  state.SetItemsProcessed(state.iterations() * static_cast<i64>(all.size()));
}
BENCHMARK(decimal_to_chars)->Arg(3)->Arg(8)->Arg(18);

// A path, as in rows of a volume, with or without a backslash, which is escaped: such a path is
// written eight characters at a time instead of sixteen.
void json_text(benchmark::State& state) {
  std::string path(static_cast<std::size_t>(state.range(0)), 'a');
  if (state.range(1) != 0) path.back() = '\\';
  core::TextBuffer json;
  for (auto _ : state) {
    json.clear();
    for (int i = 0; i < 1000; ++i) benchmark::DoNotOptimize(cli::append_json_text(json, path));
  }
  state.SetBytesProcessed(state.iterations() * 1000 * state.range(0));
}
BENCHMARK(json_text)->Args({20, 0})->Args({20, 1})->Args({80, 0})->Args({80, 1});

// The cost of a loop over the characters.
void json_text_by_character(benchmark::State& state) {
  const std::string path(static_cast<std::size_t>(state.range(0)), 'a');
  core::TextBuffer json;
  for (auto _ : state) {
    json.clear();
    for (int i = 0; i < 1000; ++i) {
      char* const start = json.reserve(cli::longest_json_text(path.size()));
      char* at = start;
      *at++ = '"';
      for (const char c : path) {
        if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') *at++ = '\\';
        *at++ = c;
      }
      *at++ = '"';
      json.commit(static_cast<std::size_t>(at - start));
    }
    benchmark::DoNotOptimize(json.view().data());
  }
  state.SetBytesProcessed(state.iterations() * 1000 * state.range(0));
}
BENCHMARK(json_text_by_character)->Arg(20)->Arg(80);

// The check whether a CSV cell needs quotes, for one that does not.
void csv_cell(benchmark::State& state) {
  const std::string path(static_cast<std::size_t>(state.range(0)), 'a');
  for (auto _ : state)
    for (int i = 0; i < 1000; ++i) benchmark::DoNotOptimize(cli::needs_csv_quotes(path));
  state.SetBytesProcessed(state.iterations() * 1000 * state.range(0));
}
BENCHMARK(csv_cell)->Arg(20)->Arg(80);

void csv_cell_by_character(benchmark::State& state) {
  const std::string path(static_cast<std::size_t>(state.range(0)), 'a');
  for (auto _ : state)
    for (int i = 0; i < 1000; ++i)
      benchmark::DoNotOptimize(std::ranges::any_of(
          path, [](char c) { return c == ',' || c == '"' || c == '\r' || c == '\n'; }));
  state.SetBytesProcessed(state.iterations() * 1000 * state.range(0));
}
BENCHMARK(csv_cell_by_character)->Arg(20)->Arg(80);

void scan(benchmark::State& state) {
  using syscall_map::SignatureScanner;
  std::mt19937_64 random{2};
  std::vector<std::byte> code(std::size_t{1} << 20U);
  for (auto& byte : code) byte = static_cast<std::byte>(random());
  std::vector<syscall_map::PatternWindow> windows(20);
  for (auto& window : windows)
    for (std::size_t i = 0; i < syscall_map::PatternWindow::size; ++i) {
      window.value[i] = static_cast<u8>(random());
      window.mask[i] = 0xff;
    }
  const SignatureScanner scanner{windows, state.range(0) != 0 ? SignatureScanner::Method::best
                                                              : SignatureScanner::Method::portable};
  SignatureScanner::Batch batch;
  for (auto _ : state)
    for (std::size_t at = 0, count = 0; at < code.size();) {
      at = scanner.scan(code, at, batch, count);
      benchmark::DoNotOptimize(count);
    }
  state.SetBytesProcessed(state.iterations() * static_cast<i64>(code.size()));
}
BENCHMARK(scan)->Arg(0)->Arg(1);

}  // namespace
}  // namespace coldtrace
