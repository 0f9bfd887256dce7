#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/options.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::cli {

// The unit of a number that gives a place.
enum class PlaceUnit : u8 { byte, sector, cluster };

struct AskedPlace {
  std::string text;
  PlaceUnit unit;
  u64 number;
};

// "4096", "0x1000"; "s:8" for a sector of the disk, "c:1" for a cluster of the volume, "b:4096" for
// a byte, whatever `unit` is. Nothing for other texts.
std::optional<AskedPlace> parse_place(std::string_view text, PlaceUnit unit);

struct PlaceOptions {
  std::vector<std::string> places;
  std::string list;
  bool sectors = false;
  bool clusters = false;

  PlaceUnit unit() const {
    return sectors ? PlaceUnit::sector : clusters ? PlaceUnit::cluster : PlaceUnit::byte;
  }
};
void add_place_options(Command& command, PlaceOptions& options);

// The requested places: first the arguments, then the lines of --places.
class AskedPlaces {
 public:
  // Opens the list; throws Failure if that is not possible.
  explicit AskedPlaces(const PlaceOptions& options);
  ~AskedPlaces();

  // The next ones, at most `most`; none at the end. Throws Failure for what is not a place.
  std::vector<AskedPlace> next(std::size_t most);

 private:
  struct List;
  AskedPlace parse(std::string_view text, std::string_view where) const;

  const PlaceOptions& options_;
  std::size_t argument_ = 0;
  std::unique_ptr<List> list_;
};

}  // namespace coldtrace::cli
