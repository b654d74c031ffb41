# Builds the libraries and the command, and lays them out as a ROCm-like prefix in target/rocm.
#
#   make            build everything into target/rocm
#   make demo       build the hello and vector_add samples with hipcc and run them
#   make test       all tests of the workspace
#   make verify     the long run: every sample, target and optimisation level
#   make bench      measure, compare with PoCL and plain C++, write target/bench.json
#   make lint       formatting, clippy, documentation
#   make headers    write include/gneiss/*.h anew from the sources
#   make install PREFIX=/usr/local [DESTDIR=...]
#
# Rust comes from https://rustup.rs. Each target installs the Debian packages it needs when run as root, or names them.

PREFIX ?= /usr/local
DESTDIR ?=
CARGO ?= cargo

target := $(or $(CARGO_TARGET_DIR),target)
rocm := $(target)/rocm
version := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

hip_library := $(rocm)/lib/libamdhip64.so.5
hip_archive := $(target)/release/libgneiss_hip_abi.a
hip_map := hip-abi/libamdhip64.map
# Versions whose programs need another soname than the library's own.
hip_later := 6 7
hip_stubs := $(foreach major,$(hip_later),$(rocm)/lib/gneiss/hip-$(major)/libamdhip64.so)
hsa_library := $(rocm)/lib/libhsa-runtime64.so.1
hsa_archive := $(target)/release/libgneiss_hsa_core.a
hsa_map := hsa-core/libhsa-runtime64.map

rtc_library := $(rocm)/lib/libhiprtc.so.5
rtc_archive := $(target)/release/libgneiss_hiprtc.a
rtc_map := hip-abi/rtc/libhiprtc.map

roctx_library := $(rocm)/lib/libroctx64.so.4
roctx_archive := $(target)/release/libgneiss_roctx.a
roctx_map := hip-abi/roctx/libroctx64.map

ocl_library := $(rocm)/lib/libgneissopencl.so.1
ocl_archive := $(target)/release/libgneiss_opencl.a
ocl_map := clr/opencl/libgneissopencl.map
ocl_vendors := etc/OpenCL/vendors

export GNEISS_PREFIX := $(abspath $(rocm))

.PHONY: all demo test verify bench lint headers install force
.DELETE_ON_ERROR:

all: $(hip_library) $(hip_stubs) $(hsa_library) $(rtc_library) $(roctx_library) $(ocl_library) $(rocm)/bin/gneiss layout

force:

need = @build/need.sh $(1)

ifeq ($(shell command -v $(CARGO)),)
$(error $(CARGO) is missing: install Rust from https://rustup.rs)
endif

# --- libraries ---------------------------------------------------------------------------------------------------

build_packages := gcc libc6-dev

# One call of cargo for everything: separate calls would unify features differently and compile the software GPU again. The tests'
# targets come along when tests follow, for the same reason.
cargo_targets := $(if $(filter test verify,$(MAKECMDGOALS)),--all-targets)

$(hip_archive) $(hsa_archive) $(rtc_archive) $(roctx_archive) $(ocl_archive) $(target)/release/gneiss &: force
	$(call need,$(build_packages))
	$(CARGO) build --release --locked --workspace $(cargo_targets)

# One file per library; every other soname is a link to it, since copies would load as two instances.
$(hip_library): $(hip_archive) $(hip_map) build/link.sh
	@mkdir -p $(@D)
	build/link.sh $@ libamdhip64.so.5 $(hip_archive) $(hip_map)
	@for n in $(hip_later:%=.%) ""; do ln -sf libamdhip64.so.5 $(@D)/libamdhip64.so$$n; done

# What programs of later versions are linked with, so that they need the soname of theirs. It leads to the one library when they run.
$(hip_stubs): $(rocm)/lib/gneiss/hip-%/libamdhip64.so: $(hip_map) build/stub.sh
	@mkdir -p $(@D)
	build/stub.sh $@ libamdhip64.so.$* $(hip_map)

$(hsa_library): $(hsa_archive) $(hsa_map) build/link.sh
	@mkdir -p $(@D)
	build/link.sh $@ libhsa-runtime64.so.1 $(hsa_archive) $(hsa_map)
	@ln -sf libhsa-runtime64.so.1 $(@D)/libhsa-runtime64.so

$(rtc_library): $(rtc_archive) $(rtc_map) build/link.sh
	@mkdir -p $(@D)
	build/link.sh $@ libhiprtc.so.5 $(rtc_archive) $(rtc_map)
	@for n in $(hip_later:%=.%) ""; do ln -sf libhiprtc.so.5 $(@D)/libhiprtc.so$$n; done

$(roctx_library): $(roctx_archive) $(roctx_map) build/link.sh
	@mkdir -p $(@D)
	build/link.sh $@ libroctx64.so.4 $(roctx_archive) $(roctx_map)
	@ln -sf libroctx64.so.4 $(@D)/libroctx64.so

# Programs never link this one: the OpenCL loader opens it.
$(ocl_library): $(ocl_archive) $(ocl_map) build/link.sh
	@mkdir -p $(@D)
	build/link.sh $@ libgneissopencl.so.1 $(ocl_archive) $(ocl_map)

$(rocm)/bin/gneiss: $(target)/release/gneiss
	@mkdir -p $(@D)
	@cp $< $@

# --- the rest of the prefix ----------------------------------------------------------------------------------------

.PHONY: layout
layout:
	@mkdir -p $(rocm)/include/gneiss $(rocm)/lib/pkgconfig $(rocm)/lib/cmake/gneiss $(rocm)/lib/gneiss/hsa-only $(rocm)/$(ocl_vendors)
	@echo libgneissopencl.so.1 >$(rocm)/$(ocl_vendors)/gneiss.icd
	@ln -sf ../../libhsa-runtime64.so.1 $(rocm)/lib/gneiss/hsa-only/libhsa-runtime64.so.1
	@cp $(hip_map) $(hsa_map) $(target)/release/libgneiss_driver_check.so $(rocm)/lib/gneiss/
	@sed -n 's/^ *NotSupported \([A-Za-z0-9_]*\);$$/\1/p' hip-abi/src/api.rs >$(rocm)/lib/gneiss/libamdhip64.unsupported
	@cat hsa-core/src/export/*.rs | tr -d '\n' | grep -o 'unsupported( *"[A-Za-z0-9_]*"' | sed 's/.*"\(.*\)"/\1/' | sort -u \
	    >$(rocm)/lib/gneiss/libhsa-runtime64.unsupported
	@for file in include/gneiss/*.h; do if [ -e "$$file" ]; then cp "$$file" $(rocm)/include/gneiss/; fi; done
	@for file in build/pkgconfig/*.pc.in; do \
	    name=$${file##*/}; sed 's/@VERSION@/$(version)/' $$file >$(rocm)/lib/pkgconfig/$${name%.in}; \
	done
	@for major in $(hip_later); do \
	    sed "s/@VERSION@/$(version)/; s/@MAJOR@/$$major/g" build/pkgconfig/gneiss-hip-major.pc.template \
	        >$(rocm)/lib/pkgconfig/gneiss-hip-$$major.pc; \
	done
	@cp build/cmake/gneiss-config.cmake $(rocm)/lib/cmake/gneiss/
	@sed 's/@VERSION@/$(version)/' build/cmake/gneiss-config-version.cmake.in >$(rocm)/lib/cmake/gneiss/gneiss-config-version.cmake

headers:
	$(CARGO) run --locked -q -p gneiss-headers

# --- what people run ---------------------------------------------------------------------------------------------

demo_samples := hello vector_add
demo_programs := $(demo_samples:%=$(target)/demo/%)

demo: all
	$(call need,hipcc g++)
	@$(MAKE) --no-print-directory $(demo_programs)
	@set -e; for program in $(demo_programs); do \
	    echo "--- gneiss run $$program"; $(rocm)/bin/gneiss run $$program; \
	done

# hipcc links the libamdhip64 that its packages bring; the program binds ours when it runs.
$(target)/demo/%: samples/hip/%.hip $(wildcard samples/hip/*.hpp)
	@mkdir -p $(@D)
	hipcc --offload-arch=gfx90a -O3 $< -o $@

test_packages := hipcc g++ llvm-19 clang-19 clang-tools-19 lld-19 cmake pkg-config libhsa-runtime-dev libamdhip64-dev rocminfo \
    clang-15 lld-15 rocm-device-libs ocl-icd-opencl-dev clinfo --optional llvm-22 clang-22 lld-22 clang-tools-22

test: all
	$(call need,$(test_packages))
	$(CARGO) test --workspace --locked --release

verify: all
	$(call need,$(test_packages))
	GNEISS_VERIFY=1 $(CARGO) test --workspace --locked --release --no-fail-fast
	GNEISS_HSA=$(abspath $(hsa_library)) $(CARGO) test --locked --release --no-fail-fast -p gneiss-hsa-core -p gneiss-tests

# The HSA library with a count of wave instructions, for the bench's time of one.
counters := $(target)/counters
counters_archive := $(counters)/release/libgneiss_hsa_core.a
counters_library := $(counters)/libhsa-runtime64.so.1
export GNEISS_COUNTERS_LIBRARY := $(abspath $(counters_library))

.PHONY: counters
counters:
	$(CARGO) build --release --locked -p gneiss-hsa-core --features counters --target-dir $(counters)
	build/link.sh $(counters_library) libhsa-runtime64.so.1 $(counters_archive) $(hsa_map)

bench: all counters
	$(call need,hipcc g++ ocl-icd-opencl-dev pocl-opencl-icd python3 rocm-device-libs --optional clang-22 lld-22 llvm-22 clang-tools-22)
	$(CARGO) run --release --locked -p gneiss-tests --bin bench

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

install: all
	@mkdir -p $(DESTDIR)$(PREFIX)
	cp -R --no-dereference --preserve=mode,links $(rocm)/. $(DESTDIR)$(PREFIX)/
	echo $(abspath $(PREFIX))/lib/libgneissopencl.so.1 >$(DESTDIR)$(PREFIX)/$(ocl_vendors)/gneiss.icd
