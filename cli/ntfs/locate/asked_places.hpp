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

// How a number says where something is.
enum class PlaceUnit : u8 { byte, sector, cluster };

struct AskedPlace {
  std::string text;
  PlaceUnit unit;
  u64 number;
};

// "4096", "0x1000"; "s:8" a sector of the disk, "c:1" a cluster of the volume, "b:4096" a byte
// whatever `unit` is. Nothing of other texts.
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

// What is asked for, one after the other: first the arguments, then the lines of --places.
class AskedPlaces {
 public:
  // Opens the list; throws Failure where that cannot be.
  explicit AskedPlaces(const PlaceOptions& options);
  ~AskedPlaces();

  // At most `most`, none at the end. Throws Failure for what is not a place.
  std::vector<AskedPlace> next(std::size_t most);

 private:
  struct List;
  AskedPlace parse(std::string_view text, std::string_view where) const;

  const PlaceOptions& options_;
  std::size_t argument_ = 0;
  std::unique_ptr<List> list_;
};

}  // namespace coldtrace::cli
