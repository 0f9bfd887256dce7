#include "cli/command/command_outline.hpp"

namespace coldtrace::cli {
namespace {

bool is_outline_wanted = false;

}  // namespace

OutlineAlone::OutlineAlone() {
  is_outline_wanted = true;
}

OutlineAlone::~OutlineAlone() {
  is_outline_wanted = false;
}

bool OutlineAlone::is_wanted() {
  return is_outline_wanted;
}

}  // namespace coldtrace::cli
