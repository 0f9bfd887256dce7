#include "coldtrace/tracefile/trace.hpp"

#include "tracefile/etl/buffer_scanner.hpp"

namespace coldtrace::tracefile {

Trace::Trace(const core::ImageSource& source, std::unique_ptr<BufferScan> scan,
             std::unique_ptr<Catalog> catalog, unsigned pointer_size)
    : source_{&source},
      scan_{std::move(scan)},
      catalog_{std::move(catalog)},
      schemas_{std::make_unique<SchemaChain>(catalog_->schemas.in_order())},
      clock_{scan_->has_header ? make_clock(scan_->header, scan_->first_timestamp) : Clock{}},
      pointer_size_{pointer_size} {}

core::Result<Trace> Trace::open(const core::ImageSource& source, const CatalogOptions& options,
                                core::Findings& findings) {
  auto scan = std::make_unique<BufferScan>(
      COLDTRACE_TRY(scan_buffers(source, options.largest_unpacked, findings)));
  auto catalog = std::make_unique<Catalog>(read_catalog(source, *scan, options, findings));
  return Trace{source, std::move(scan), std::move(catalog), options.pointer_size};
}

EventStream Trace::stream(StreamOptions options) const {
  options.pointer_size = pointer_size_;
  return {*source_, *scan_, catalog_->names, options};
}

}  // namespace coldtrace::tracefile
