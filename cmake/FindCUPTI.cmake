# Headers of CUPTI: from CUPTI_ROOT, a CUDA toolkit, or NVIDIA's small Python wheels (those that come with PyTorch).
# FindCUDAToolkit does not know the wheels. Only headers are needed: libcupti is looked up at run time.
#
#   CUPTI_INCLUDE_DIR and the imported target teller::cupti_headers; TELLER_CUPTI=OFF leaves CUPTI out
option(TELLER_CUPTI "Record CUDA through CUPTI where its headers are found" ON)
set(CUPTI_ROOT "" CACHE PATH "Folder that holds CUPTI (include/cupti.h)")

# The Python whose packages are searched for NVIDIA's wheels.
set(TELLER_WHEEL_PYTHON python3)
if(TELLER_PYTHON)
  set(TELLER_WHEEL_PYTHON ${TELLER_PYTHON})
endif()
execute_process(
  COMMAND ${TELLER_WHEEL_PYTHON} -c "import sysconfig; print(sysconfig.get_paths()['purelib'])"
  OUTPUT_VARIABLE TELLER_SITE_PACKAGES OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(TELLER_NVIDIA_WHEELS "")
if(TELLER_SITE_PACKAGES)
  file(GLOB TELLER_NVIDIA_WHEELS ${TELLER_SITE_PACKAGES}/nvidia/cu1*/include
       ${TELLER_SITE_PACKAGES}/nvidia/cuda_cupti/include ${TELLER_SITE_PACKAGES}/nvidia/nvtx/include
       ${TELLER_SITE_PACKAGES}/nvidia/cuda_runtime/include)
endif()
set(TELLER_CUDA_HINTS ${CUPTI_ROOT}/include ${CUPTI_ROOT} $ENV{CUPTI_ROOT}/include $ENV{CUDA_HOME}/include
    $ENV{CUDA_HOME}/extras/CUPTI/include /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include
    ${TELLER_NVIDIA_WHEELS})

find_path(CUPTI_INCLUDE_DIR cupti.h HINTS ${TELLER_CUDA_HINTS})
# cupti.h includes cuda.h, which a wheel of CUPTI alone does not hold.
find_path(CUPTI_CUDA_INCLUDE_DIR cuda.h HINTS ${CUPTI_INCLUDE_DIR} ${TELLER_CUDA_HINTS})
mark_as_advanced(CUPTI_INCLUDE_DIR CUPTI_CUDA_INCLUDE_DIR)

# Whether they are complete only a compiler can tell: wheels of CUPTI and of the runtime may lack crt/host_defines.h.
include(CheckCXXSourceCompiles)
if(CUPTI_INCLUDE_DIR AND CUPTI_CUDA_INCLUDE_DIR)
  set(CMAKE_REQUIRED_INCLUDES ${CUPTI_INCLUDE_DIR} ${CUPTI_CUDA_INCLUDE_DIR})
  check_cxx_source_compiles("#include <cstddef>
#include <cupti.h>
int main() { return CUPTI_SUCCESS; }" CUPTI_COMPILES)
  unset(CMAKE_REQUIRED_INCLUDES)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CUPTI REQUIRED_VARS CUPTI_INCLUDE_DIR CUPTI_CUDA_INCLUDE_DIR CUPTI_COMPILES)

if(CUPTI_FOUND AND TELLER_CUPTI AND NOT TARGET teller::cupti_headers)
  add_library(teller::cupti_headers INTERFACE IMPORTED GLOBAL)
  target_include_directories(teller::cupti_headers SYSTEM INTERFACE ${CUPTI_INCLUDE_DIR} ${CUPTI_CUDA_INCLUDE_DIR})
endif()
