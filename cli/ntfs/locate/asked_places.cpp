#include "cli/ntfs/locate/asked_places.hpp"

#include <fmt/format.h>

#include "cli/command/number_text.hpp"
#include "cli/command/report.hpp"
#include "cli/command/text_input.hpp"
#include "cli/command/text_lines.hpp"
#include "cli/output/output.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

// Without blanks at both ends and what stands behind '#'.
std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

std::unique_ptr<core::ImageSource> open_list(const std::string& path) {
  auto file = open_text_input(path);
  if (!file) throw Failure{fmt::format("{}: {}", printable(path), to_message(file.error()))};
  return std::move(*file);
}

}  // namespace

std::optional<AskedPlace> parse_place(std::string_view text, PlaceUnit unit) {
  auto digits = text;
  if (text.size() > 2 && text[1] == ':') {
    digits.remove_prefix(2);
    if (text[0] == 'b')
      unit = PlaceUnit::byte;
    else if (text[0] == 's')
      unit = PlaceUnit::sector;
    else if (text[0] == 'c')
      unit = PlaceUnit::cluster;
    else
      return std::nullopt;
  }
  const auto number = parse_number(digits);
  if (!number) return std::nullopt;
  return AskedPlace{std::string{text}, unit, *number};
}

void add_place_options(Command& command, PlaceOptions& options) {
  command
      .add_option("PLACE", options.places,
                  "A byte of the image, decimal or 0x hexadecimal; s:N a sector of the disk, c:N a "
                  "cluster of the volume, b:N a byte")
      .type_name("PLACE");
  command
      .add_input(
          "--places", options.list,
          "Also the places in this file, one per line, # before comments; - is standard input")
      .type_name("FILE");
  auto sectors =
      command.add_flag("--sectors", options.sectors, "Plain numbers are sectors of the disk");
  auto clusters =
      command.add_flag("--clusters", options.clusters, "Plain numbers are clusters of the volume");
  sectors.excludes(clusters);
}

struct AskedPlaces::List {
  std::unique_ptr<core::ImageSource> file;
  TextLines lines;
  u64 number = 0;
};

AskedPlaces::AskedPlaces(const PlaceOptions& options) : options_{options} {
  if (options.list.empty()) return;
  auto file = open_list(options.list);
  const auto& source = *file;
  list_ = std::make_unique<List>(List{std::move(file), TextLines{source}});
}

AskedPlaces::~AskedPlaces() = default;

AskedPlace AskedPlaces::parse(std::string_view text, std::string_view where) const {
  auto place = parse_place(text, options_.unit());
  if (place) return std::move(*place);
  constexpr std::size_t shown = 60;
  throw Failure{
      fmt::format("{}'{}' is not a place: N or 0xN, with s: a sector, c: a cluster, b: a byte",
                  where, printable(text.substr(0, shown)))};
}

std::vector<AskedPlace> AskedPlaces::next(std::size_t most) {
  std::vector<AskedPlace> places;
  while (places.size() < most && argument_ < options_.places.size())
    places.push_back(parse(options_.places[argument_++], ""));
  std::string line;
  while (list_ && places.size() < most && list_->lines.next(line)) {
    ++list_->number;
    const auto where = [&] {
      return fmt::format("{}:{}: ", printable(options_.list), list_->number);
    };
    if (list_->lines.too_long()) throw Failure{where() + "the line is too long"};
    if (const auto text = trimmed(line); !text.empty()) places.push_back(parse(text, where()));
  }
  if (list_ && list_->lines.error())
    throw Failure{printable(options_.list) + ": cannot be read to its end"};
  return places;
}

}  // namespace coldtrace::cli
