PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
CORES = $(shell nproc 2>/dev/null || echo 2)
CORE = $(shell find src/quadsweep/_core tests/core/compiled -name "*.[ch]pp")
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Tests and benchmarks use the cores themselves; threads of a linear algebra library that wait for
# each other on busy cores turn a millisecond into half a second.
export OPENBLAS_NUM_THREADS = 1
# The tests start the command often: its byte code is kept, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo wasm test test-slow test-all lint types werror sanitize guard bench wheel docs format pictures images clean

# The package for a first look: what the demo needs and no more, optimised less outside the hot loops
# (the answers are the same), in a build folder of its own.
$(VENV)/.demo: pyproject.toml CMakeLists.txt $(CORE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile --editable ".[plot]" --config-settings build-dir=build/demo \
	  --config-settings cmake.define.CMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" --config-settings cmake.define.QUADSWEEP_PARTS=OFF
	touch $@

# The package built and installed for development, with every tool of this file.
$(VENV)/.ready: pyproject.toml CMakeLists.txt $(CORE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable ".[dev]"
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/python -m quadsweep.demo quadsweep-demo.png

# The engine for pages: the same sources for WebAssembly, by the compiler of the ziglang wheel (clang
# and a C++20 library, nothing else to install). Where there is none, reports have no engine.
WASM = src/quadsweep/report/live/engine.wasm
WASM_LOOPS = shared/hot_loops.cpp ellipse/loops.cpp
WASM_OBJECTS = $(patsubst %,build/wasm/%.o,plane shared search ellipse wasm loops)
WASM_FLAGS = -target wasm32-wasi -mexec-model=reactor -std=c++20 -O3 -msimd128 -fno-exceptions -fno-rtti \
  -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp-simd -w \
  -DNDEBUG -DQUADSWEEP_NO_THREADS -DQUADSWEEP_ISA=baseline -Isrc/quadsweep/_core
wasm: $(VENV)/.ready
	$(MAKE) --no-print-directory -j $(CORES) $(WASM)
$(WASM): $(WASM_OBJECTS)
	$(BIN)/python -m ziglang c++ $(WASM_FLAGS) -s $^ -o $@
# Each folder is one file to the compiler, and so are the loops, as in CMakeLists.txt.
build/wasm/%.o: $(CORE)
	mkdir -p $(@D)
	printf '#include "%s"\n' $(if $(filter loops,$*),$(WASM_LOOPS),$(filter-out $(WASM_LOOPS),$(patsubst \
	  src/quadsweep/_core/%,%,$(filter src/quadsweep/_core/$*/%.cpp,$(CORE))))) > build/wasm/$*.cpp
	$(BIN)/python -m ziglang c++ $(WASM_FLAGS) -c build/wasm/$*.cpp -o $@

# What is quick; what is marked slow is left to test-slow, and test-all is both.
test: $(VENV)/.ready wasm
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

test-slow: $(VENV)/.ready wasm
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow

test-all: test test-slow

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CORE)

types: $(VENV)/.ready
	$(BIN)/mypy

# The compiled half once more, every compiler warning an error; optimised no further than warnings need.
werror: $(VENV)/.ready
	$(PIP) cmake ninja nanobind
	$(BIN)/cmake -S . -B build/werror -G Ninja -DQUADSWEEP_WERROR=ON -DCMAKE_CXX_FLAGS=-O1 \
	  -DCMAKE_MAKE_PROGRAM="$(abspath $(BIN))/ninja" -DPython_EXECUTABLE="$(abspath $(BIN))/python"
	$(BIN)/cmake --build build/werror

# The tests of the compiled half once more with sanitizers: address and undefined behaviour in one
# build, threads in another, each in its own environment. Takes half an hour on two cores, so it is
# run by hand before a release and not by .ci/run. GCC on Linux; where an exception is thrown, the
# runtime wants the C++ library loaded beside it. Polars and statsmodels cannot be imported beside the
# sanitizer of threads; tests that need them are left out there, and what it says of Arrow's own threads.
SANITIZED = $(addprefix core/test_,core certificate_holes methods naive sweep \
  interrupts certified engine_parts mcd memory search several_engine many_controls) \
  solving/test_batch fuzzing/test_fuzz auditing/test_estimating \
  $(addprefix outofcore/test_,passes out_of_core_paths out_of_core_audits)
sanitize:
	$(MAKE) sanitize-address,undefined RUNTIME=libasan.so
	$(MAKE) sanitize-thread RUNTIME=libtsan.so WITHOUT="polars statsmodels" WITHOUT_TESTS=%/test_estimating

# Searches and the fuzzer of the plane with their best subset guarded in every box: a bound, a decision or
# a child that loses it is named.
GUARDED ?= 5000
guard:
	test -x build/$@/bin/python || $(PYTHON) -m venv build/$@
	build/$@/bin/python -m pip install --quiet --disable-pip-version-check pytest hypothesis
	build/$@/bin/python -m pip install --quiet --disable-pip-version-check . \
	  --config-settings build-dir=build/$@/cmake --config-settings cmake.define.QUADSWEEP_DEBUG_SOLUTION=ON
	build/$@/bin/python -m pytest -q -p no:cacheprovider tests/core/test_debug_solution.py
	build/$@/bin/python tests/fuzzing/fuzz.py --instances $(GUARDED) --jobs $(CORES)

sanitize-%:
	test -x build/$@/bin/python || $(PYTHON) -m venv build/$@
	build/$@/bin/python -m pip install --quiet --disable-pip-version-check pytest hypothesis statsmodels linearmodels
	build/$@/bin/python -m pip install --quiet --disable-pip-version-check ".[formula,plot]" \
	  --config-settings build-dir=build/$@/cmake --config-settings cmake.define.QUADSWEEP_SANITIZE=$* --config-settings cmake.define.QUADSWEEP_PARTS=ON \
	  --config-settings install.strip=false
	$(if $(WITHOUT),build/$@/bin/python -m pip uninstall --quiet --yes $(WITHOUT))
	printf '%s\n' race:libarrow mutex:libarrow race:libparquet mutex:libparquet race:arrow:: mutex:arrow:: > build/$@/suppressions
	LD_PRELOAD="$$($(CXX) -print-file-name=$(RUNTIME)) $$($(CXX) -print-file-name=libstdc++.so)" \
	  OPENBLAS_NUM_THREADS=1 \
	  ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS="halt_on_error=1 report_signal_unsafe=0 suppressions=$(CURDIR)/build/$@/suppressions" \
	  setarch -R build/$@/bin/python -m pytest -m "not slow" $(patsubst %,tests/%.py,$(filter-out $(WITHOUT_TESTS),$(SANITIZED))) \
	  --deselect tests/core/test_naive.py::test_both_directions_miss_nothing_in_2000_samples

# Every benchmark and every fuzzer, small and side by side: that they run, not what they measure.
FUZZERS = $(filter-out %/fuzz_runs.py %/mutate_scores.py $(wildcard tests/fuzzing/test_*.py),$(wildcard tests/fuzzing/*.py))
bench: $(VENV)/.ready wasm
	printf '%s\n' $(wildcard benchmarks/*.py) $(FUZZERS) | xargs -P $(CORES) -n 1 sh -c \
	  'said=$$($(BIN)/python "$$0" --quick 2>&1); code=$$?; printf "== %s\n%s\n" "$$0" "$$said"; exit $$code'

# Source distribution, a wheel from it, and the wheel at work where there is no compiler.
wheel: $(VENV)/.ready wasm
	$(PIP) build
	rm -rf dist build/newcomer
	$(BIN)/python -m build --outdir dist --config-setting cmake.define.QUADSWEEP_RELEASE=ON .
	$(PYTHON) -m venv build/newcomer
	CC=false CXX=false build/newcomer/bin/pip install --quiet --disable-pip-version-check \
	  --only-binary :all: "quadsweep[plot] @ file://$$(ls $(CURDIR)/dist/*.whl)"
	cd build/newcomer && printf 'a b,c\n1,1\n2,2\n3,9\n,4\n4,4\n5,5\n' | \
	  env -i bin/quadsweep solve - --drop 1 --plot picture.png

# The guide, its gallery run on the way, in docs/_build/html.
docs: $(VENV)/.ready wasm
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# The pictures of the README and the guide.
pictures: $(VENV)/.ready
	mkdir -p docs/images
	$(BIN)/python -m quadsweep.demo docs/images/animals.png
	cp tests/plotting/images/mcd.png docs/images/mcd.png

# What the picture tests compare with; look at them before committing.
images: $(VENV)/.ready
	$(BIN)/python tests/plotting/test_images.py

format: $(VENV)/.ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(CORE)

clean:
	rm -rf $(VENV) build dist
