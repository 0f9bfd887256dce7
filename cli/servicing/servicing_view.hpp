#pragma once

#include <vector>

#include "cli/output/json.hpp"
#include "cli/output/output.hpp"
#include "cli/servicing/serviced_builds.hpp"
#include "cli/servicing/serviced_pair.hpp"

namespace coldtrace::cli {

// Both systems, and which of their modules correspond.
struct Servicing {
  ServicedSide before, after;
  std::vector<ServicedPair> pairs;
  u64 same = 0, changed = 0, added = 0, removed = 0;  // modules
  ServicedBuilds builds;
  core::Findings findings;  // of the comparison as a whole
};

// Writes the answer: the modules as they are compared, in the order of the pairs.
class ServicingWriter {
 public:
  ServicingWriter() = default;
  ServicingWriter(const ServicingWriter&) = delete;
  ServicingWriter& operator=(const ServicingWriter&) = delete;
  virtual ~ServicingWriter() = default;

  virtual void begin(const Servicing& servicing) = 0;
  // For a pair with differences.
  virtual void module(const Servicing& servicing, const ServicedPair& pair,
                      const ComparedPair& compared) = 0;
  virtual void end(const Servicing& servicing) = 0;
};

std::unique_ptr<ServicingWriter> make_servicing_text(Output& output);
std::unique_ptr<ServicingWriter> make_servicing_json(Output& output, Int64 int64);

// What changed inside a module: members of its object, or lines below its own.
void write_module_changes(JsonWriter& json, const ComparedPair& compared);
void write_module_changes(Output& output, const ComparedPair& compared);

}  // namespace coldtrace::cli
