// A vector with an entry for every row. From two megabytes on it asks for large pages, since the
// first touch of each small one costs as much as a pass over it, and resizing leaves new numbers as
// they are, so that each part is first touched by the thread that fills it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace quadsweep {

template <class T>
struct PageAllocator {
    using value_type = T;

    PageAllocator() = default;
    template <class U>
    PageAllocator(const PageAllocator<U>&) {}

    static constexpr std::size_t page = std::size_t{1} << 21;

    T* allocate(std::size_t n) {
#ifdef __linux__
        if (n >= page / sizeof(T)) {
            const std::size_t bytes = (n * sizeof(T) + page - 1) / page * page;
            void* const at = std::aligned_alloc(page, bytes);
            if (at == nullptr) throw std::bad_alloc();
            madvise(at, bytes, MADV_HUGEPAGE);  // advice: it works without
            return static_cast<T*>(at);
        }
#endif
        return std::allocator<T>().allocate(n);
    }

    void deallocate(T* at, std::size_t n) {
#ifdef __linux__
        if (n >= page / sizeof(T)) return std::free(at);
#endif
        std::allocator<T>().deallocate(at, n);
    }

    template <class U, class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        if constexpr (sizeof...(Arguments) > 0 || !std::is_trivially_default_constructible_v<U>) {
            std::construct_at(at, std::forward<Arguments>(arguments)...);
        }
    }

    bool operator==(const PageAllocator&) const { return true; }
};

template <class T>
using Array = std::vector<T, PageAllocator<T>>;

}  // namespace quadsweep
