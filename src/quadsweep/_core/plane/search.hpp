// The search in the plane: the points are placed about a good subset, the boxes of the criterion's
// parameters are searched, and placed again where a better subset asks for it.
#pragma once

#include <cstdint>
#include <vector>

#include "certified.hpp"
#include "search/driver.hpp"
#include "worker.hpp"

namespace quadsweep {

class Search {
  public:
    Search(const Problem& problem, const CertifiedOptions& options, Control& control);

    CertifiedAnswer run();

  private:
    bool begin();
    void search();
    std::vector<Box> first_boxes();
    Boxes roots();
    Undecided everything() const;
    void list_all();
    bool finished() const { return relaxation_.finished() || known_.at_limit(); }
    int largest() const;
    double most_boxes() const;
    CertifiedAnswer answer() const;

    const Problem& problem_;
    const CertifiedOptions& options_;
    Control& control_;
    PlaneRelaxation relaxation_;
    Incumbents& known_;
    Driver<PlaneRelaxation> driver_;
    double scanned_ = 0;       // points and cells costed before there were boxes
    std::uint64_t lines_ = 0;  // looked at
};

}  // namespace quadsweep
