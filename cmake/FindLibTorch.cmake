# LibTorch: from LIBTORCH_ROOT, or from the PyTorch wheel of TELLER_PYTHON (or of python3).
# TorchConfig.cmake of the wheel fails where nvcc is on the PATH, and would pull in libtorch_cuda: the target is made of
# the two libraries that a CPU needs.
#
#   the imported target teller::torch; TELLER_LEARN=OFF leaves train, diagnose and eval out
option(TELLER_LEARN "Build train, diagnose and eval where LibTorch is found" ON)
set(LIBTORCH_ROOT "" CACHE PATH "Folder of LibTorch, with include/ and lib/")

set(TELLER_TORCH_ROOT "${LIBTORCH_ROOT}")
if(NOT TELLER_TORCH_ROOT)
  set(TELLER_TORCH_PYTHON python3)
  if(TELLER_PYTHON)
    set(TELLER_TORCH_PYTHON ${TELLER_PYTHON})
  endif()
  execute_process(
    COMMAND ${TELLER_TORCH_PYTHON} -c "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    OUTPUT_VARIABLE TELLER_TORCH_SITE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(TELLER_TORCH_SITE)
    set(TELLER_TORCH_ROOT ${TELLER_TORCH_SITE}/torch)
  endif()
endif()

# Only there: a LibTorch of the distribution would be another version (docs/learn.md).
find_path(LIBTORCH_INCLUDE_DIR torch/csrc/api/include/torch/torch.h
          PATHS ${TELLER_TORCH_ROOT}/include NO_DEFAULT_PATH)
find_library(LIBTORCH_CPU_LIBRARY torch_cpu PATHS ${TELLER_TORCH_ROOT}/lib NO_DEFAULT_PATH)
find_library(LIBTORCH_C10_LIBRARY c10 PATHS ${TELLER_TORCH_ROOT}/lib NO_DEFAULT_PATH)
mark_as_advanced(LIBTORCH_INCLUDE_DIR LIBTORCH_CPU_LIBRARY LIBTORCH_C10_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LIBTORCH_CPU_LIBRARY LIBTORCH_C10_LIBRARY LIBTORCH_INCLUDE_DIR)

if(LibTorch_FOUND AND TELLER_LEARN AND NOT TARGET teller::torch)
  add_library(teller::torch INTERFACE IMPORTED GLOBAL)
  target_include_directories(teller::torch SYSTEM INTERFACE
                             ${LIBTORCH_INCLUDE_DIR} ${LIBTORCH_INCLUDE_DIR}/torch/csrc/api/include)
  target_link_libraries(teller::torch INTERFACE ${LIBTORCH_CPU_LIBRARY} ${LIBTORCH_C10_LIBRARY})
  # libtorch_cpu names libcudart and libcupti, which it finds by itself beside it.
  target_link_options(teller::torch INTERFACE -Wl,--unresolved-symbols=ignore-in-shared-libs)
endif()
