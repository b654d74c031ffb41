/* Written by `make headers` from the Rust sources; do not edit. SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef GNEISS_HIP_H
#define GNEISS_HIP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* HIP for C programs: devices, streams, events, memory, modules.
 * Programs in HIP C++ keep using AMD's headers. */

#define hipIpcMemLazyEnablePeerAccess 0

#define hipStreamDefault 0

#define hipStreamNonBlocking 1

#define hipEventDefault 0

#define hipEventBlockingSync 1

#define hipEventDisableTiming 2

#define hipEventInterprocess 4

#define hipEventReleaseToDevice 1073741824

#define hipEventReleaseToSystem 2147483648

#define hipHostMallocDefault 0

#define hipHostMallocPortable 1

#define hipHostMallocMapped 2

#define hipHostMallocWriteCombined 4

#define hipHostMallocNumaUser 536870912

#define hipHostMallocCoherent 1073741824

#define hipHostMallocNonCoherent 2147483648

#define hipMemAttachGlobal 1

#define hipMemAttachHost 2

#define hipMemAttachSingle 4

#define hipDeviceMallocDefault 0

#define hipDeviceMallocFinegrained 1

#define hipDeviceMallocUncached 3

#define hipMallocSignalMemory 2

#define hipHostRegisterDefault 0

#define hipHostRegisterPortable 1

#define hipHostRegisterMapped 2

#define hipHostRegisterIoMemory 4

#define hipExtHostRegisterCoarseGrained 8

#define hipDeviceScheduleAuto 0

#define hipDeviceScheduleSpin 1

#define hipDeviceScheduleYield 2

#define hipDeviceScheduleBlockingSync 4

#define hipDeviceScheduleMask 7

#define hipDeviceMapHost 8

#define hipDeviceLmemResizeToMax 22

#define hipArrayDefault 0

#define hipArrayLayered 1

#define hipArraySurfaceLoadStore 2

#define hipArrayCubemap 4

#define hipArrayTextureGather 8

#define hipOccupancyDefault 0

#define hipCooperativeLaunchMultiDeviceNoPreSync 1

#define hipCooperativeLaunchMultiDeviceNoPostSync 2

#define hipExtAnyOrderLaunch 1

#define hipStreamWaitValueGte 0

#define hipStreamWaitValueEq 1

#define hipStreamWaitValueAnd 2

#define hipStreamWaitValueNor 3

#define hipEventDisableSystemFence 536870912

#define hipHostMallocUncached 268435456

#define hipHostRegisterReadOnly 8

#define hipCpuDeviceId -1

#define hipInvalidDeviceId -2

/**
 * The status that HIP functions return.
 */
enum hipError_t
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * No error.
   */
  hipSuccess = 0,
  /**
   * Invalid argument.
   */
  hipErrorInvalidValue = 1,
  /**
   * Out of memory.
   */
  hipErrorOutOfMemory = 2,
  /**
   * Initialization error.
   */
  hipErrorNotInitialized = 3,
  /**
   * Driver shutting down.
   */
  hipErrorDeinitialized = 4,
  /**
   * Profiler disabled while using external profiling tool.
   */
  hipErrorProfilerDisabled = 5,
  /**
   * Profiler is not initialized.
   */
  hipErrorProfilerNotInitialized = 6,
  /**
   * Profiler already started.
   */
  hipErrorProfilerAlreadyStarted = 7,
  /**
   * Profiler already stopped.
   */
  hipErrorProfilerAlreadyStopped = 8,
  /**
   * Invalid configuration argument.
   */
  hipErrorInvalidConfiguration = 9,
  /**
   * Invalid pitch argument.
   */
  hipErrorInvalidPitchValue = 12,
  /**
   * Invalid device symbol.
   */
  hipErrorInvalidSymbol = 13,
  /**
   * Invalid device pointer.
   */
  hipErrorInvalidDevicePointer = 17,
  /**
   * Invalid copy direction for memcpy.
   */
  hipErrorInvalidMemcpyDirection = 21,
  /**
   * Driver version is insufficient for runtime version.
   */
  hipErrorInsufficientDriver = 35,
  /**
   * __global__ function call is not configured.
   */
  hipErrorMissingConfiguration = 52,
  /**
   * Unspecified launch failure in prior launch.
   */
  hipErrorPriorLaunchFailure = 53,
  /**
   * Invalid device function.
   */
  hipErrorInvalidDeviceFunction = 98,
  /**
   * No ROCm-capable device is detected.
   */
  hipErrorNoDevice = 100,
  /**
   * Invalid device ordinal.
   */
  hipErrorInvalidDevice = 101,
  /**
   * Device kernel image is invalid.
   */
  hipErrorInvalidImage = 200,
  /**
   * Invalid device context.
   */
  hipErrorInvalidContext = 201,
  /**
   * Context is already current context.
   */
  hipErrorContextAlreadyCurrent = 202,
  /**
   * Mapping of buffer object failed.
   */
  hipErrorMapFailed = 205,
  /**
   * Unmapping of buffer object failed.
   */
  hipErrorUnmapFailed = 206,
  /**
   * Array is mapped.
   */
  hipErrorArrayIsMapped = 207,
  /**
   * Resource already mapped.
   */
  hipErrorAlreadyMapped = 208,
  /**
   * No kernel image is available for execution on the device.
   */
  hipErrorNoBinaryForGpu = 209,
  /**
   * Resource already acquired.
   */
  hipErrorAlreadyAcquired = 210,
  /**
   * Resource not mapped.
   */
  hipErrorNotMapped = 211,
  /**
   * Resource not mapped as array.
   */
  hipErrorNotMappedAsArray = 212,
  /**
   * Resource not mapped as pointer.
   */
  hipErrorNotMappedAsPointer = 213,
  /**
   * Uncorrectable ECC error encountered.
   */
  hipErrorECCNotCorrectable = 214,
  /**
   * Limit is not supported on this architecture.
   */
  hipErrorUnsupportedLimit = 215,
  /**
   * Exclusive-thread device already in use by a different thread.
   */
  hipErrorContextAlreadyInUse = 216,
  /**
   * Peer access is not supported between these two devices.
   */
  hipErrorPeerAccessUnsupported = 217,
  /**
   * Invalid kernel file.
   */
  hipErrorInvalidKernelFile = 218,
  /**
   * Invalid OpenGL or DirectX context.
   */
  hipErrorInvalidGraphicsContext = 219,
  /**
   * Device kernel image is invalid.
   */
  hipErrorInvalidSource = 300,
  /**
   * File not found.
   */
  hipErrorFileNotFound = 301,
  /**
   * Shared object symbol not found.
   */
  hipErrorSharedObjectSymbolNotFound = 302,
  /**
   * Shared object initialization failed.
   */
  hipErrorSharedObjectInitFailed = 303,
  /**
   * OS call failed or operation not supported on this OS.
   */
  hipErrorOperatingSystem = 304,
  /**
   * Invalid resource handle.
   */
  hipErrorInvalidHandle = 400,
  /**
   * The operation cannot be performed in the present state.
   */
  hipErrorIllegalState = 401,
  /**
   * Named symbol not found.
   */
  hipErrorNotFound = 500,
  /**
   * Device not ready.
   */
  hipErrorNotReady = 600,
  /**
   * An illegal memory access was encountered.
   */
  hipErrorIllegalAddress = 700,
  /**
   * Too many resources requested for launch.
   */
  hipErrorLaunchOutOfResources = 701,
  /**
   * The launch timed out and was terminated.
   */
  hipErrorLaunchTimeOut = 702,
  /**
   * Peer access is already enabled.
   */
  hipErrorPeerAccessAlreadyEnabled = 704,
  /**
   * Peer access has not been enabled.
   */
  hipErrorPeerAccessNotEnabled = 705,
  /**
   * Cannot set while device is active in this process.
   */
  hipErrorSetOnActiveProcess = 708,
  /**
   * Context is destroyed.
   */
  hipErrorContextIsDestroyed = 709,
  /**
   * Device-side assert triggered.
   */
  hipErrorAssert = 710,
  /**
   * Part or all of the requested memory range is already mapped.
   */
  hipErrorHostMemoryAlreadyRegistered = 712,
  /**
   * Pointer does not correspond to a registered memory region.
   */
  hipErrorHostMemoryNotRegistered = 713,
  /**
   * Unspecified launch failure.
   */
  hipErrorLaunchFailure = 719,
  /**
   * Too many blocks in cooperative launch.
   */
  hipErrorCooperativeLaunchTooLarge = 720,
  /**
   * Operation not supported.
   */
  hipErrorNotSupported = 801,
  /**
   * Operation not permitted when stream is capturing.
   */
  hipErrorStreamCaptureUnsupported = 900,
  /**
   * Operation failed due to a previous error during capture.
   */
  hipErrorStreamCaptureInvalidated = 901,
  /**
   * Operation would result in a merge of separate capture sequences.
   */
  hipErrorStreamCaptureMerge = 902,
  /**
   * Capture was not ended in the same stream as it began.
   */
  hipErrorStreamCaptureUnmatched = 903,
  /**
   * Capturing stream has unjoined work.
   */
  hipErrorStreamCaptureUnjoined = 904,
  /**
   * Dependency created on uncaptured work in another stream.
   */
  hipErrorStreamCaptureIsolation = 905,
  /**
   * Operation would make the legacy stream depend on a capturing blocking stream.
   */
  hipErrorStreamCaptureImplicit = 906,
  /**
   * Operation not permitted on an event last recorded in a capturing stream.
   */
  hipErrorCapturedEvent = 907,
  /**
   * Attempt to terminate a thread-local capture sequence from another thread.
   */
  hipErrorStreamCaptureWrongThread = 908,
  /**
   * The graph update was not performed because it included changes which violated constraints specific to instantiated graph update.
   */
  hipErrorGraphExecUpdateFailure = 910,
  /**
   * Unknown error.
   */
  hipErrorUnknown = 999,
  /**
   * Runtime memory call returned error.
   */
  hipErrorRuntimeMemory = 1052,
  /**
   * Runtime call other than memory returned error.
   */
  hipErrorRuntimeOther = 1053,
  /**
   * Unknown error.
   */
  hipErrorTbd = 1054,
  /**
   * Invalid channel descriptor.
   */
  hipErrorInvalidChannelDescriptor = 911,
  /**
   * Invalid texture.
   */
  hipErrorInvalidTexture = 912,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum hipError_t hipError_t;
#else
typedef uint32_t hipError_t;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

typedef struct hipGraphExec hipGraphExec;

typedef struct hipGraphNode hipGraphNode;

typedef struct hipUserObject hipUserObject;

typedef struct ihipCtx_t ihipCtx_t;

typedef struct ihipEvent_t ihipEvent_t;

typedef struct ihipGraph ihipGraph;

typedef struct ihipKernel_t ihipKernel_t;

typedef struct ihipLibrary_t ihipLibrary_t;

typedef struct ihipMemPoolHandle_t ihipMemPoolHandle_t;

typedef struct ihipModuleSymbol_t ihipModuleSymbol_t;

typedef struct ihipModule_t ihipModule_t;

typedef struct ihipStream_t ihipStream_t;

typedef uint32_t hipChannelFormatKind;

/**
 * Bits of a channel, by component, and their kind.
 */
typedef struct hipChannelFormatDesc {
  /**
   * Bits of x.
   */
  int32_t x;
  /**
   * Bits of y.
   */
  int32_t y;
  /**
   * Bits of z.
   */
  int32_t z;
  /**
   * Bits of w.
   */
  int32_t w;
  /**
   * Kind of all.
   */
  hipChannelFormatKind f;
} hipChannelFormatDesc;

typedef uint32_t hipArray_Format;

/**
 * A HIP array. Its fields are public in HIP 5; later headers keep them hidden.
 */
typedef struct hipArray {
  /**
   * Device address of the first element.
   */
  void *data;
  /**
   * Channel format.
   */
  struct hipChannelFormatDesc desc;
  /**
   * Flags given at creation.
   */
  uint32_t type;
  /**
   * Elements of a row.
   */
  uint32_t width;
  /**
   * Rows, or 0.
   */
  uint32_t height;
  /**
   * Slices, or 0.
   */
  uint32_t depth;
  /**
   * Element format.
   */
  hipArray_Format Format;
  /**
   * Channels of an element.
   */
  uint32_t NumChannels;
  /**
   * Made by the driver API.
   */
  bool isDrv;
  /**
   * Texture type.
   */
  uint32_t textureType;
} hipArray;

/**
 * A handle of an array: the address of a `hipArray` that HIP owns.
 */
typedef struct hipArray *hipArray_t;

/**
 * A size of three dimensions: width in bytes for linear memory, in elements for arrays.
 */
typedef struct hipExtent {
  /**
   * Width.
   */
  size_t width;
  /**
   * Height in rows.
   */
  size_t height;
  /**
   * Depth in slices.
   */
  size_t depth;
} hipExtent;

/**
 * A driver API array's shape, one or two dimensions.
 */
typedef struct HIP_ARRAY_DESCRIPTOR {
  /**
   * Elements of a row.
   */
  size_t Width;
  /**
   * Rows, or 0.
   */
  size_t Height;
  /**
   * Format of a channel.
   */
  hipArray_Format Format;
  /**
   * Channels of an element.
   */
  uint32_t NumChannels;
} HIP_ARRAY_DESCRIPTOR;

/**
 * A driver API array's shape, up to three dimensions.
 */
typedef struct HIP_ARRAY3D_DESCRIPTOR {
  /**
   * Elements of a row.
   */
  size_t Width;
  /**
   * Rows, or 0.
   */
  size_t Height;
  /**
   * Slices, or 0.
   */
  size_t Depth;
  /**
   * Format of a channel.
   */
  hipArray_Format Format;
  /**
   * Channels of an element.
   */
  uint32_t NumChannels;
  /**
   * `hipArray…` flags.
   */
  uint32_t Flags;
} HIP_ARRAY3D_DESCRIPTOR;

typedef uint32_t hipMemcpyKind;

/**
 * A stream; null is the null stream, 1 is `hipStreamLegacy`, 2 is `hipStreamPerThread`.
 */
typedef struct ihipStream_t *hipStream_t;

/**
 * A device address.
 */
typedef void *hipDeviceptr_t;

/**
 * A position in three dimensions.
 */
typedef struct hipPos {
  /**
   * X: bytes for linear memory, elements for arrays.
   */
  size_t x;
  /**
   * Y in rows.
   */
  size_t y;
  /**
   * Z in slices.
   */
  size_t z;
} hipPos;

/**
 * A pitched allocation.
 */
typedef struct hipPitchedPtr {
  /**
   * First byte.
   */
  void *ptr;
  /**
   * Bytes from a row to the next.
   */
  size_t pitch;
  /**
   * Row width in elements.
   */
  size_t xsize;
  /**
   * Rows.
   */
  size_t ysize;
} hipPitchedPtr;

/**
 * A copy of three dimensions between devices.
 */
typedef struct hipMemcpy3DPeerParms {
  /**
   * Source array, or null.
   */
  hipArray_t srcArray;
  /**
   * Source position.
   */
  struct hipPos srcPos;
  /**
   * Source memory, if there is no source array.
   */
  struct hipPitchedPtr srcPtr;
  /**
   * Source device.
   */
  int32_t srcDevice;
  /**
   * Destination array, or null.
   */
  hipArray_t dstArray;
  /**
   * Destination position.
   */
  struct hipPos dstPos;
  /**
   * Destination memory, if there is no destination array.
   */
  struct hipPitchedPtr dstPtr;
  /**
   * Destination device.
   */
  int32_t dstDevice;
  /**
   * Size.
   */
  struct hipExtent extent;
} hipMemcpy3DPeerParms;

typedef uint32_t hipMemLocationType;

/**
 * A place of memory.
 */
typedef struct hipMemLocation {
  /**
   * What `id` means.
   */
  hipMemLocationType type;
  /**
   * Device ordinal.
   */
  int32_t id;
} hipMemLocation;

/**
 * Hints for copies of a batch.
 */
typedef struct hipMemcpyAttributes {
  /**
   * When the source may change: 1 in stream order, 2 when the call has returned, 3 at any time.
   */
  uint32_t srcAccessOrder;
  /**
   * Where the source is.
   */
  struct hipMemLocation srcLocHint;
  /**
   * Where the destination is.
   */
  struct hipMemLocation dstLocHint;
  /**
   * Flags.
   */
  uint32_t flags;
} hipMemcpyAttributes;

/**
 * One side of a copy of a batch; the union's members both have four words.
 */
typedef struct hipMemcpy3DOperand {
  /**
   * 1 memory, 2 an array.
   */
  uint32_t type;
  /**
   * Padding.
   */
  uint32_t pad;
  /**
   * Memory: address, elements of a row, rows of a slice, place. Array: handle, x, y, z.
   */
  size_t words[4];
} hipMemcpy3DOperand;

/**
 * A copy of a batch.
 */
typedef struct hipMemcpy3DBatchOp {
  /**
   * Source.
   */
  struct hipMemcpy3DOperand src;
  /**
   * Destination.
   */
  struct hipMemcpy3DOperand dst;
  /**
   * Size.
   */
  struct hipExtent extent;
  /**
   * As in `hipMemcpyAttributes`.
   */
  uint32_t srcAccessOrder;
  /**
   * Flags.
   */
  uint32_t flags;
} hipMemcpy3DBatchOp;

typedef uint32_t hipStreamCaptureMode;

/**
 * A graph.
 */
typedef struct ihipGraph *hipGraph_t;

/**
 * A node of a graph.
 */
typedef struct hipGraphNode *hipGraphNode_t;

typedef uint32_t hipStreamCaptureStatus;

/**
 * Three sizes, in blocks or threads.
 */
typedef struct dim3 {
  /**
   * X.
   */
  uint32_t x;
  /**
   * Y.
   */
  uint32_t y;
  /**
   * Z.
   */
  uint32_t z;
} dim3;

/**
 * A context of the driver API.
 */
typedef struct ihipCtx_t *hipCtx_t;

/**
 * A device ordinal.
 */
typedef int32_t hipDevice_t;

typedef uint32_t hipFuncCache_t;

typedef uint32_t hipSharedMemConfig;

/**
 * A copy of two dimensions of the driver API (`hipMemcpyParam2D`).
 */
typedef struct hip_Memcpy2D {
  /**
   * Source column in bytes.
   */
  size_t srcXInBytes;
  /**
   * Source row.
   */
  size_t srcY;
  /**
   * `hipMemoryType` of the presented version.
   */
  uint32_t srcMemoryType;
  /**
   * Source if host memory.
   */
  const void *srcHost;
  /**
   * Source if device memory.
   */
  hipDeviceptr_t srcDevice;
  /**
   * Source if an array.
   */
  hipArray_t srcArray;
  /**
   * Bytes of a source row, with padding.
   */
  size_t srcPitch;
  /**
   * Destination column in bytes.
   */
  size_t dstXInBytes;
  /**
   * Destination row.
   */
  size_t dstY;
  /**
   * `hipMemoryType` of the presented version.
   */
  uint32_t dstMemoryType;
  /**
   * Destination if host memory.
   */
  void *dstHost;
  /**
   * Destination if device memory.
   */
  hipDeviceptr_t dstDevice;
  /**
   * Destination if an array.
   */
  hipArray_t dstArray;
  /**
   * Bytes of a destination row, with padding.
   */
  size_t dstPitch;
  /**
   * Bytes of a row to copy.
   */
  size_t WidthInBytes;
  /**
   * Rows to copy.
   */
  size_t Height;
} hip_Memcpy2D;

/**
 * A copy of three dimensions (`hipMemcpy3D`).
 */
typedef struct hipMemcpy3DParms {
  /**
   * Source array, or null.
   */
  hipArray_t srcArray;
  /**
   * Source position.
   */
  struct hipPos srcPos;
  /**
   * Source memory, if there is no source array.
   */
  struct hipPitchedPtr srcPtr;
  /**
   * Destination array, or null.
   */
  hipArray_t dstArray;
  /**
   * Destination position.
   */
  struct hipPos dstPos;
  /**
   * Destination memory, if there is no destination array.
   */
  struct hipPitchedPtr dstPtr;
  /**
   * Size.
   */
  struct hipExtent extent;
  /**
   * Direction.
   */
  hipMemcpyKind kind;
} hipMemcpy3DParms;

/**
 * Feature bits of a device.
 */
typedef struct hipDeviceArch_t {
  /**
   * Bit 0 `hasGlobalInt32Atomics` to bit 16 `hasDynamicParallelism`, in the order of the header's bit fields.
   */
  uint32_t bits;
} hipDeviceArch_t;

/**
 * Device properties as HIP 5 lays them out.
 */
typedef struct hipDeviceProp_tR0000 {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int32_t regsPerBlock;
  int32_t warpSize;
  int32_t maxThreadsPerBlock;
  int32_t maxThreadsDim[3];
  int32_t maxGridSize[3];
  int32_t clockRate;
  int32_t memoryClockRate;
  int32_t memoryBusWidth;
  size_t totalConstMem;
  int32_t major;
  int32_t minor;
  int32_t multiProcessorCount;
  int32_t l2CacheSize;
  int32_t maxThreadsPerMultiProcessor;
  int32_t computeMode;
  int32_t clockInstructionRate;
  struct hipDeviceArch_t arch;
  int32_t concurrentKernels;
  int32_t pciDomainID;
  int32_t pciBusID;
  int32_t pciDeviceID;
  size_t maxSharedMemoryPerMultiProcessor;
  int32_t isMultiGpuBoard;
  int32_t canMapHostMemory;
  int32_t gcnArch;
  char gcnArchName[256];
  int32_t integrated;
  int32_t cooperativeLaunch;
  int32_t cooperativeMultiDeviceLaunch;
  int32_t maxTexture1DLinear;
  int32_t maxTexture1D;
  int32_t maxTexture2D[2];
  int32_t maxTexture3D[3];
  uint32_t *hdpMemFlushCntl;
  uint32_t *hdpRegFlushCntl;
  size_t memPitch;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int32_t kernelExecTimeoutEnabled;
  int32_t ECCEnabled;
  int32_t tccDriver;
  int32_t cooperativeMultiDeviceUnmatchedFunc;
  int32_t cooperativeMultiDeviceUnmatchedGridDim;
  int32_t cooperativeMultiDeviceUnmatchedBlockDim;
  int32_t cooperativeMultiDeviceUnmatchedSharedMem;
  int32_t isLargeBar;
  int32_t asicRevision;
  int32_t managedMemory;
  int32_t directManagedMemAccessFromHost;
  int32_t concurrentManagedAccess;
  int32_t pageableMemoryAccess;
  int32_t pageableMemoryAccessUsesHostPageTables;
} hipDeviceProp_tR0000;

/**
 * A device's unique identity.
 */
typedef struct hipUUID {
  /**
   * 16 bytes.
   */
  char bytes[16];
} hipUUID;

/**
 * Device properties as HIP 6 and 7 lay them out.
 */
typedef struct hipDeviceProp_tR0600 {
  char name[256];
  struct hipUUID uuid;
  char luid[8];
  uint32_t luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int32_t regsPerBlock;
  int32_t warpSize;
  size_t memPitch;
  int32_t maxThreadsPerBlock;
  int32_t maxThreadsDim[3];
  int32_t maxGridSize[3];
  int32_t clockRate;
  size_t totalConstMem;
  int32_t major;
  int32_t minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int32_t deviceOverlap;
  int32_t multiProcessorCount;
  int32_t kernelExecTimeoutEnabled;
  int32_t integrated;
  int32_t canMapHostMemory;
  int32_t computeMode;
  int32_t maxTexture1D;
  int32_t maxTexture1DMipmap;
  int32_t maxTexture1DLinear;
  int32_t maxTexture2D[2];
  int32_t maxTexture2DMipmap[2];
  int32_t maxTexture2DLinear[3];
  int32_t maxTexture2DGather[2];
  int32_t maxTexture3D[3];
  int32_t maxTexture3DAlt[3];
  int32_t maxTextureCubemap;
  int32_t maxTexture1DLayered[2];
  int32_t maxTexture2DLayered[3];
  int32_t maxTextureCubemapLayered[2];
  int32_t maxSurface1D;
  int32_t maxSurface2D[2];
  int32_t maxSurface3D[3];
  int32_t maxSurface1DLayered[2];
  int32_t maxSurface2DLayered[3];
  int32_t maxSurfaceCubemap;
  int32_t maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int32_t concurrentKernels;
  int32_t ECCEnabled;
  int32_t pciBusID;
  int32_t pciDeviceID;
  int32_t pciDomainID;
  int32_t tccDriver;
  int32_t asyncEngineCount;
  int32_t unifiedAddressing;
  int32_t memoryClockRate;
  int32_t memoryBusWidth;
  int32_t l2CacheSize;
  int32_t persistingL2CacheMaxSize;
  int32_t maxThreadsPerMultiProcessor;
  int32_t streamPrioritiesSupported;
  int32_t globalL1CacheSupported;
  int32_t localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int32_t regsPerMultiprocessor;
  int32_t managedMemory;
  int32_t isMultiGpuBoard;
  int32_t multiGpuBoardGroupID;
  int32_t hostNativeAtomicSupported;
  int32_t singleToDoublePrecisionPerfRatio;
  int32_t pageableMemoryAccess;
  int32_t concurrentManagedAccess;
  int32_t computePreemptionSupported;
  int32_t canUseHostPointerForRegisteredMem;
  int32_t cooperativeLaunch;
  int32_t cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int32_t pageableMemoryAccessUsesHostPageTables;
  int32_t directManagedMemAccessFromHost;
  int32_t maxBlocksPerMultiProcessor;
  int32_t accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int32_t hostRegisterSupported;
  int32_t sparseHipArraySupported;
  int32_t hostRegisterReadOnlySupported;
  int32_t timelineSemaphoreInteropSupported;
  int32_t memoryPoolsSupported;
  int32_t gpuDirectRDMASupported;
  uint32_t gpuDirectRDMAFlushWritesOptions;
  int32_t gpuDirectRDMAWritesOrdering;
  uint32_t memoryPoolSupportedHandleTypes;
  int32_t deferredMappingHipArraySupported;
  int32_t ipcEventSupported;
  int32_t clusterLaunch;
  int32_t unifiedFunctionPointers;
  int32_t reserved[63];
  int32_t hipReserved[32];
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int32_t clockInstructionRate;
  struct hipDeviceArch_t arch;
  uint32_t *hdpMemFlushCntl;
  uint32_t *hdpRegFlushCntl;
  int32_t cooperativeMultiDeviceUnmatchedFunc;
  int32_t cooperativeMultiDeviceUnmatchedGridDim;
  int32_t cooperativeMultiDeviceUnmatchedBlockDim;
  int32_t cooperativeMultiDeviceUnmatchedSharedMem;
  int32_t isLargeBar;
  int32_t asicRevision;
} hipDeviceProp_tR0600;

typedef uint32_t hipDeviceAttribute_t;

typedef uint32_t hipLimit_t;

/**
 * An event.
 */
typedef struct ihipEvent_t *hipEvent_t;

/**
 * A handle of imported memory.
 */
typedef void *hipExternalMemory_t;

/**
 * What to import. HIP 6 has reserved words behind this.
 */
typedef struct hipExternalMemoryHandleDesc {
  /**
   * Sort of handle: 1 is a file descriptor, 2 to 7 are handles of Windows.
   */
  uint32_t type;
  /**
   * The descriptor in its low half, or the handle of Windows.
   */
  void *handle;
  /**
   * Name of the handle of Windows.
   */
  const void *name;
  /**
   * Bytes.
   */
  uint64_t size;
  /**
   * 1: the memory belongs to one resource.
   */
  uint32_t flags;
} hipExternalMemoryHandleDesc;

/**
 * The part of imported memory to get an address of. HIP 6 has reserved words behind this.
 */
typedef struct hipExternalMemoryBufferDesc {
  /**
   * Bytes from its start.
   */
  uint64_t offset;
  /**
   * Bytes.
   */
  uint64_t size;
  /**
   * Must be 0.
   */
  uint32_t flags;
} hipExternalMemoryBufferDesc;

/**
 * A kernel of a module.
 */
typedef struct ihipModuleSymbol_t *hipFunction_t;

/**
 * What a kernel needs.
 */
typedef struct hipFuncAttributes {
  /**
   * Major × 10 + minor of the target.
   */
  int32_t binaryVersion;
  /**
   * Always 0.
   */
  int32_t cacheModeCA;
  /**
   * Bytes of constant memory.
   */
  size_t constSizeBytes;
  /**
   * Bytes of scratch of a thread.
   */
  size_t localSizeBytes;
  /**
   * Bytes of dynamic LDS that a launch may ask for.
   */
  int32_t maxDynamicSharedSizeBytes;
  /**
   * Threads of a block at most.
   */
  int32_t maxThreadsPerBlock;
  /**
   * Vector registers.
   */
  int32_t numRegs;
  /**
   * Always 0.
   */
  int32_t preferredShmemCarveout;
  /**
   * Same as `binaryVersion`.
   */
  int32_t ptxVersion;
  /**
   * Bytes of static LDS.
   */
  size_t sharedSizeBytes;
} hipFuncAttributes;

typedef uint32_t hipFunction_attribute;

typedef uint32_t hipFuncAttribute;

/**
 * An executable graph.
 */
typedef struct hipGraphExec *hipGraphExec_t;

/**
 * How to instantiate a graph, and what became of it.
 */
typedef struct hipGraphInstantiateParams {
  /**
   * The node that failed.
   */
  hipGraphNode_t errNode_out;
  /**
   * `hipGraphInstantiateFlag…`.
   */
  uint64_t flags;
  /**
   * `hipGraphInstantiate…` result.
   */
  uint32_t result_out;
  /**
   * Stream of an upload.
   */
  hipStream_t uploadStream;
} hipGraphInstantiateParams;

/**
 * A kernel node.
 */
typedef struct hipKernelNodeParams {
  /**
   * Block in threads.
   */
  struct dim3 blockDim;
  /**
   * `HIP_LAUNCH_PARAM_…` list, or null.
   */
  void **extra;
  /**
   * Host address of the kernel, or a `hipFunction_t`.
   */
  void *func;
  /**
   * Grid in blocks.
   */
  struct dim3 gridDim;
  /**
   * Addresses of the arguments, or null.
   */
  void **kernelParams;
  /**
   * Bytes of dynamic LDS.
   */
  uint32_t sharedMemBytes;
} hipKernelNodeParams;

/**
 * A fill node.
 */
typedef struct hipMemsetParams {
  /**
   * Destination.
   */
  void *dst;
  /**
   * Bytes of an element: 1, 2 or 4.
   */
  uint32_t elementSize;
  /**
   * Rows.
   */
  size_t height;
  /**
   * Bytes from row to row; not used for one row.
   */
  size_t pitch;
  /**
   * Value of an element.
   */
  uint32_t value;
  /**
   * Elements of a row.
   */
  size_t width;
} hipMemsetParams;

/**
 * A fill node of the driver API (HIP 6).
 */
typedef struct HIP_MEMSET_NODE_PARAMS {
  /**
   * Destination.
   */
  void *dst;
  /**
   * Bytes from row to row; not used for one row.
   */
  size_t pitch;
  /**
   * Value of an element.
   */
  uint32_t value;
  /**
   * Bytes of an element: 1, 2 or 4.
   */
  uint32_t elementSize;
  /**
   * Elements of a row.
   */
  size_t width;
  /**
   * Rows.
   */
  size_t height;
} HIP_MEMSET_NODE_PARAMS;

/**
 * A function that a stream calls on the host (`hipLaunchHostFunc`).
 */
typedef void (*hipHostFn_t)(void *user_data);

/**
 * A host node.
 */
typedef struct hipHostNodeParams {
  /**
   * Function.
   */
  hipHostFn_t fn;
  /**
   * Its argument.
   */
  void *userData;
} hipHostNodeParams;

typedef uint32_t hipMemAllocationType;

typedef uint32_t hipMemAllocationHandleType;

/**
 * Shape of a memory pool.
 */
typedef struct hipMemPoolProps {
  /**
   * Must be pinned.
   */
  hipMemAllocationType allocType;
  /**
   * Handles that allocations can be exported as.
   */
  hipMemAllocationHandleType handleTypes;
  /**
   * Where allocations live.
   */
  struct hipMemLocation location;
  /**
   * Unused on Linux.
   */
  void *win32SecurityAttributes;
  /**
   * Bytes of the pool at most (HIP 6 and later; reserved before), 0 for no bound.
   */
  size_t maxSize;
  /**
   * Must be 0.
   */
  uint8_t reserved[56];
} hipMemPoolProps;

typedef uint32_t hipMemAccessFlags;

/**
 * Who may access a pool.
 */
typedef struct hipMemAccessDesc {
  /**
   * Where.
   */
  struct hipMemLocation location;
  /**
   * Rights.
   */
  hipMemAccessFlags flags;
} hipMemAccessDesc;

/**
 * An allocation node.
 */
typedef struct hipMemAllocNodeParams {
  /**
   * Where the memory lives.
   */
  struct hipMemPoolProps poolProps;
  /**
   * Who else may access it.
   */
  const struct hipMemAccessDesc *accessDescs;
  /**
   * How many.
   */
  size_t accessDescCount;
  /**
   * Bytes.
   */
  size_t bytesize;
  /**
   * The address, which HIP writes.
   */
  void *dptr;
} hipMemAllocNodeParams;

/**
 * One operation of a batch on memory values; the union's largest member.
 */
typedef struct hipStreamBatchMemOpParams {
  /**
   * `hipStreamBatchMemOpType`.
   */
  uint32_t operation;
  /**
   * Padding.
   */
  uint32_t pad;
  /**
   * Address.
   */
  void *address;
  /**
   * Value.
   */
  uint64_t value;
  /**
   * Condition of a wait.
   */
  uint32_t flags;
  /**
   * Padding.
   */
  uint32_t pad2;
  /**
   * Not used.
   */
  void *alias;
  /**
   * Padding.
   */
  uint64_t pad3;
} hipStreamBatchMemOpParams;

/**
 * A batch node.
 */
typedef struct hipBatchMemOpNodeParams {
  /**
   * Context.
   */
  hipCtx_t ctx;
  /**
   * Operations.
   */
  uint32_t count;
  /**
   * The operations.
   */
  struct hipStreamBatchMemOpParams *paramArray;
  /**
   * Must be 0.
   */
  uint32_t flags;
} hipBatchMemOpNodeParams;

/**
 * Parameters of a node of any type: the type, then the type's own record at offset 16.
 */
typedef struct hipGraphNodeParams {
  /**
   * `hipGraphNodeType` of the presented version.
   */
  uint32_t type;
  /**
   * Must be 0.
   */
  int32_t reserved0[3];
  /**
   * The record.
   */
  int64_t record[29];
  /**
   * Must be 0.
   */
  int64_t reserved2;
} hipGraphNodeParams;

/**
 * An object that graphs keep.
 */
typedef struct hipUserObject *hipUserObject_t;

/**
 * A memory handle that another process can open.
 */
typedef struct hipIpcMemHandle_t {
  /**
   * Bytes without meaning to the caller.
   */
  char reserved[64];
} hipIpcMemHandle_t;

/**
 * An event handle that another process can open.
 */
typedef struct hipIpcEventHandle_t {
  /**
   * Bytes without meaning to the caller.
   */
  char reserved[64];
} hipIpcEventHandle_t;

/**
 * One attribute of an extended launch (HIP 7).
 */
typedef struct hipLaunchAttribute {
  /**
   * `hipLaunchAttributeID`.
   */
  uint32_t id;
  /**
   * Padding.
   */
  uint8_t pad[4];
  /**
   * A union of 64 bytes; for `hipLaunchAttributeCooperative` an `int` in the first four.
   */
  uint64_t val[8];
} hipLaunchAttribute;

/**
 * An extended launch of the runtime API (HIP 7).
 */
typedef struct hipLaunchConfig_t {
  /**
   * Grid in blocks.
   */
  struct dim3 gridDim;
  /**
   * Block in threads.
   */
  struct dim3 blockDim;
  /**
   * Bytes of dynamic LDS.
   */
  size_t dynamicSmemBytes;
  /**
   * Stream.
   */
  hipStream_t stream;
  /**
   * Attributes.
   */
  struct hipLaunchAttribute *attrs;
  /**
   * How many.
   */
  uint32_t numAttrs;
} hipLaunchConfig_t;

/**
 * An extended launch of the driver API (HIP 7).
 */
typedef struct HIP_LAUNCH_CONFIG {
  /**
   * Grid in blocks.
   */
  uint32_t gridDimX;
  /**
   * Grid in blocks.
   */
  uint32_t gridDimY;
  /**
   * Grid in blocks.
   */
  uint32_t gridDimZ;
  /**
   * Block in threads.
   */
  uint32_t blockDimX;
  /**
   * Block in threads.
   */
  uint32_t blockDimY;
  /**
   * Block in threads.
   */
  uint32_t blockDimZ;
  /**
   * Bytes of dynamic LDS.
   */
  uint32_t sharedMemBytes;
  /**
   * Stream.
   */
  hipStream_t hStream;
  /**
   * Attributes.
   */
  struct hipLaunchAttribute *attrs;
  /**
   * How many.
   */
  uint32_t numAttrs;
} HIP_LAUNCH_CONFIG;

/**
 * One launch of a multi-device launch.
 */
typedef struct hipLaunchParams {
  /**
   * Host address of the kernel.
   */
  void *func;
  /**
   * Grid in blocks.
   */
  struct dim3 gridDim;
  /**
   * Block in threads.
   */
  struct dim3 blockDim;
  /**
   * Addresses of the arguments.
   */
  void **args;
  /**
   * Bytes of dynamic LDS.
   */
  size_t sharedMem;
  /**
   * Stream.
   */
  hipStream_t stream;
} hipLaunchParams;

/**
 * One launch of `hipModuleLaunchCooperativeKernelMultiDevice`.
 */
typedef struct hipFunctionLaunchParams {
  /**
   * Kernel.
   */
  hipFunction_t function;
  /**
   * Grid in blocks.
   */
  uint32_t gridDimX;
  /**
   * Grid in blocks.
   */
  uint32_t gridDimY;
  /**
   * Grid in blocks.
   */
  uint32_t gridDimZ;
  /**
   * Block in threads.
   */
  uint32_t blockDimX;
  /**
   * Block in threads.
   */
  uint32_t blockDimY;
  /**
   * Block in threads.
   */
  uint32_t blockDimZ;
  /**
   * Bytes of dynamic LDS.
   */
  uint32_t sharedMemBytes;
  /**
   * Stream.
   */
  hipStream_t hStream;
  /**
   * Addresses of the arguments.
   */
  void **kernelParams;
} hipFunctionLaunchParams;

/**
 * A library.
 */
typedef struct ihipLibrary_t *hipLibrary_t;

/**
 * A kernel of a library.
 */
typedef struct ihipKernel_t *hipKernel_t;

/**
 * A link state.
 */
typedef void *hipLinkState_t;

typedef uint32_t hipMemoryAdvise;

typedef uint32_t hipMemRangeAttribute;

/**
 * A mipmapped array. Its fields are public in AMD's headers; `num_channels` came in HIP 6, in what was padding.
 */
typedef struct hipMipmappedArray {
  /**
   * Device address of the first element of level 0.
   */
  void *data;
  /**
   * Channel format.
   */
  struct hipChannelFormatDesc desc;
  /**
   * Flags given at creation.
   */
  uint32_t type;
  /**
   * Elements of a row of level 0.
   */
  uint32_t width;
  /**
   * Rows of level 0, or 0.
   */
  uint32_t height;
  /**
   * Slices of level 0, or 0.
   */
  uint32_t depth;
  /**
   * First level: 0.
   */
  uint32_t min_mipmap_level;
  /**
   * Last level.
   */
  uint32_t max_mipmap_level;
  /**
   * Flags given at creation.
   */
  uint32_t flags;
  /**
   * Element format.
   */
  hipArray_Format format;
  /**
   * Channels of an element.
   */
  uint32_t num_channels;
} hipMipmappedArray;

/**
 * A handle of a mipmapped array: the address of a `hipMipmappedArray` that HIP owns.
 */
typedef struct hipMipmappedArray *hipMipmappedArray_t;

typedef uint32_t hipDriverProcAddressQueryResult;

/**
 * A loaded module.
 */
typedef struct ihipModule_t *hipModule_t;

typedef uint32_t hipDeviceP2PAttr;

/**
 * A function that a stream calls on the host (`hipStreamAddCallback`).
 */
typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status, void *user_data);

/**
 * What HIP knows of a pointer.
 */
typedef struct hipPointerAttribute_t {
  /**
   * `hipMemoryType` of the presented version.
   */
  uint32_t type;
  /**
   * Device ordinal.
   */
  int32_t device;
  /**
   * Device address, or null.
   */
  void *devicePointer;
  /**
   * Host address, or null.
   */
  void *hostPointer;
  /**
   * 1 for managed memory.
   */
  int32_t isManaged;
  /**
   * Flags given at allocation.
   */
  uint32_t allocationFlags;
} hipPointerAttribute_t;

typedef uint32_t hipPointer_attribute;

/**
 * A stream-ordered memory pool.
 */
typedef struct ihipMemPoolHandle_t *hipMemPool_t;

typedef uint32_t hipMemPoolAttr;

/**
 * A block of a pool for another process: a memory handle in 64 bytes.
 */
typedef struct hipMemPoolPtrExportData {
  /**
   * Bytes without meaning to the caller.
   */
  uint8_t reserved[64];
} hipMemPoolPtrExportData;

/**
 * A surface object: the address of the image descriptor that kernels read.
 */
typedef void *hipSurfaceObject_t;

typedef uint32_t hipResourceType;

/**
 * A resource that is a HIP array.
 */
typedef struct hipResourceArray {
  /**
   * The array.
   */
  hipArray_t array;
} hipResourceArray;

/**
 * A resource that is a mipmapped array.
 */
typedef struct hipResourceMipmap {
  /**
   * The array.
   */
  hipMipmappedArray_t mipmap;
} hipResourceMipmap;

/**
 * A resource that is linear memory.
 */
typedef struct hipResourceLinear {
  /**
   * First element, 256-byte aligned.
   */
  void *devPtr;
  /**
   * Channels of an element.
   */
  struct hipChannelFormatDesc desc;
  /**
   * Bytes.
   */
  size_t sizeInBytes;
} hipResourceLinear;

/**
 * A resource that is rows of memory.
 */
typedef struct hipResourcePitch2D {
  /**
   * First element, 256-byte aligned.
   */
  void *devPtr;
  /**
   * Channels of an element.
   */
  struct hipChannelFormatDesc desc;
  /**
   * Elements of a row.
   */
  size_t width;
  /**
   * Rows.
   */
  size_t height;
  /**
   * Bytes from one row to the next, a multiple of 256.
   */
  size_t pitchInBytes;
} hipResourcePitch2D;

/**
 * What a resource is.
 */
typedef union hipResourceUnion {
  /**
   * `hipResourceTypeArray`.
   */
  struct hipResourceArray array;
  /**
   * `hipResourceTypeMipmappedArray`.
   */
  struct hipResourceMipmap mipmap;
  /**
   * `hipResourceTypeLinear`.
   */
  struct hipResourceLinear linear;
  /**
   * `hipResourceTypePitch2D`.
   */
  struct hipResourcePitch2D pitch2D;
} hipResourceUnion;

/**
 * What a texture or surface reads.
 */
typedef struct hipResourceDesc {
  /**
   * Which member of `res` is meant.
   */
  hipResourceType resType;
  /**
   * The resource.
   */
  union hipResourceUnion res;
} hipResourceDesc;

/**
 * A texture object: the address of the image and sampler descriptors that kernels read.
 */
typedef void *hipTextureObject_t;

typedef uint32_t hipTextureAddressMode;

typedef uint32_t hipTextureFilterMode;

typedef uint32_t hipTextureReadMode;

/**
 * How a texture is read.
 */
typedef struct hipTextureDesc {
  /**
   * `hipAddressMode…` of each dimension.
   */
  hipTextureAddressMode addressMode[3];
  /**
   * `hipFilterMode…`.
   */
  hipTextureFilterMode filterMode;
  /**
   * `hipReadMode…`.
   */
  hipTextureReadMode readMode;
  /**
   * Decode the sRGB curve.
   */
  int32_t sRGB;
  /**
   * Border colour; AMD's hardware path has transparent black only.
   */
  float borderColor[4];
  /**
   * Coordinates are 0 to 1.
   */
  int32_t normalizedCoords;
  /**
   * Must be 0.
   */
  uint32_t maxAnisotropy;
  /**
   * Filter between mipmap levels.
   */
  hipTextureFilterMode mipmapFilterMode;
  /**
   * What is added to the level of detail of mipmapped arrays; must be 0 for others.
   */
  float mipmapLevelBias;
  /**
   * Least mipmap level.
   */
  float minMipmapLevelClamp;
  /**
   * Greatest mipmap level. If both are 0, there are no limits.
   */
  float maxMipmapLevelClamp;
} hipTextureDesc;

typedef uint32_t hipResourceViewFormat;

/**
 * How a texture sees an array: with another format.
 */
typedef struct hipResourceViewDesc {
  /**
   * `hipResViewFormat…`.
   */
  hipResourceViewFormat format;
  /**
   * Elements of a row.
   */
  size_t width;
  /**
   * Rows.
   */
  size_t height;
  /**
   * Slices.
   */
  size_t depth;
  /**
   * First mipmap level.
   */
  uint32_t firstMipmapLevel;
  /**
   * Last mipmap level.
   */
  uint32_t lastMipmapLevel;
  /**
   * First layer.
   */
  uint32_t firstLayer;
  /**
   * Last layer.
   */
  uint32_t lastLayer;
} hipResourceViewDesc;

/**
 * A driver API resource that is linear memory.
 */
typedef struct HIP_RESOURCE_LINEAR {
  /**
   * First element.
   */
  hipDeviceptr_t devPtr;
  /**
   * Format of a channel.
   */
  hipArray_Format format;
  /**
   * Channels of an element.
   */
  uint32_t numChannels;
  /**
   * Bytes.
   */
  size_t sizeInBytes;
} HIP_RESOURCE_LINEAR;

/**
 * A driver API resource that is rows of memory.
 */
typedef struct HIP_RESOURCE_PITCH2D {
  /**
   * First element.
   */
  hipDeviceptr_t devPtr;
  /**
   * Format of a channel.
   */
  hipArray_Format format;
  /**
   * Channels of an element.
   */
  uint32_t numChannels;
  /**
   * Elements of a row.
   */
  size_t width;
  /**
   * Rows.
   */
  size_t height;
  /**
   * Bytes from one row to the next.
   */
  size_t pitchInBytes;
} HIP_RESOURCE_PITCH2D;

/**
 * What a driver API resource is.
 */
typedef union HIP_RESOURCE_UNION {
  /**
   * `HIP_RESOURCE_TYPE_ARRAY`.
   */
  struct hipResourceArray array;
  /**
   * `HIP_RESOURCE_TYPE_MIPMAPPED_ARRAY`.
   */
  struct hipResourceMipmap mipmap;
  /**
   * `HIP_RESOURCE_TYPE_LINEAR`.
   */
  struct HIP_RESOURCE_LINEAR linear;
  /**
   * `HIP_RESOURCE_TYPE_PITCH2D`.
   */
  struct HIP_RESOURCE_PITCH2D pitch2D;
  /**
   * Room.
   */
  int32_t reserved[32];
} HIP_RESOURCE_UNION;

/**
 * What a texture reads (driver API); the types have the numbers of `hipResourceType…`.
 */
typedef struct HIP_RESOURCE_DESC {
  /**
   * Which member of `res` is meant.
   */
  hipResourceType resType;
  /**
   * The resource.
   */
  union HIP_RESOURCE_UNION res;
  /**
   * Must be 0.
   */
  uint32_t flags;
} HIP_RESOURCE_DESC;

/**
 * How a texture is read (driver API).
 */
typedef struct HIP_TEXTURE_DESC {
  /**
   * Address modes, with the numbers of `hipAddressMode…`.
   */
  hipTextureAddressMode addressMode[3];
  /**
   * Filter, with the numbers of `hipFilterMode…`.
   */
  hipTextureFilterMode filterMode;
  /**
   * `HIP_TRSF_…`.
   */
  uint32_t flags;
  /**
   * Must be 0.
   */
  uint32_t maxAnisotropy;
  /**
   * Filter between mipmap levels.
   */
  hipTextureFilterMode mipmapFilterMode;
  /**
   * What is added to the level of detail of mipmapped arrays; must be 0 for others.
   */
  float mipmapLevelBias;
  /**
   * Least mipmap level.
   */
  float minMipmapLevelClamp;
  /**
   * Greatest mipmap level. If both are 0, there are no limits.
   */
  float maxMipmapLevelClamp;
  /**
   * Border colour.
   */
  float borderColor[4];
  /**
   * Room.
   */
  int32_t reserved[12];
} HIP_TEXTURE_DESC;

/**
 * How a texture sees an array (driver API).
 */
typedef struct HIP_RESOURCE_VIEW_DESC {
  /**
   * Format, with the numbers of `hipResViewFormat…`.
   */
  hipResourceViewFormat format;
  /**
   * Elements of a row.
   */
  size_t width;
  /**
   * Rows.
   */
  size_t height;
  /**
   * Slices.
   */
  size_t depth;
  /**
   * First mipmap level.
   */
  uint32_t firstMipmapLevel;
  /**
   * Last mipmap level.
   */
  uint32_t lastMipmapLevel;
  /**
   * First layer.
   */
  uint32_t firstLayer;
  /**
   * Last layer.
   */
  uint32_t lastLayer;
  /**
   * Room.
   */
  uint32_t reserved[16];
} HIP_RESOURCE_VIEW_DESC;

/**
 * A texture reference: a variable of the program that its kernels read through. `texture<…>` derives from it.
 */
typedef struct textureReference {
  /**
   * Coordinates are 0 to 1.
   */
  int32_t normalized;
  /**
   * `hipReadMode…`.
   */
  hipTextureReadMode readMode;
  /**
   * `hipFilterMode…`.
   */
  hipTextureFilterMode filterMode;
  /**
   * `hipAddressMode…` of each dimension.
   */
  hipTextureAddressMode addressMode[3];
  /**
   * Channels of an element.
   */
  struct hipChannelFormatDesc channelDesc;
  /**
   * Decode the sRGB curve.
   */
  int32_t sRGB;
  /**
   * Must be 0.
   */
  uint32_t maxAnisotropy;
  /**
   * Filter between mipmap levels.
   */
  hipTextureFilterMode mipmapFilterMode;
  /**
   * What is added to the level of detail of mipmapped arrays; must be 0 for others.
   */
  float mipmapLevelBias;
  /**
   * Least mipmap level.
   */
  float minMipmapLevelClamp;
  /**
   * Greatest mipmap level. If both are 0, there are no limits.
   */
  float maxMipmapLevelClamp;
  /**
   * What it is bound to, or null.
   */
  hipTextureObject_t textureObject;
  /**
   * Channels of an element (driver API).
   */
  int32_t numChannels;
  /**
   * Format of a channel (driver API).
   */
  hipArray_Format format;
} textureReference;

/**
 * Properties of an allocation, in the layout of HIP 6 and 7.
 */
typedef struct hipMemAllocationProp {
  /**
   * Must be pinned.
   */
  hipMemAllocationType type;
  /**
   * Handles that it can be exported as.
   */
  hipMemAllocationHandleType requestedHandleType;
  /**
   * Where it lives.
   */
  struct hipMemLocation location;
  /**
   * Unused on Linux.
   */
  void *win32HandleMetaData;
  /**
   * Flags; kept for queries.
   */
  uint64_t allocFlags;
} hipMemAllocationProp;

typedef uint32_t hipMemAllocationGranularity_flags;

/**
 * A handle of an allocation.
 */
typedef void *hipMemGenericAllocationHandle_t;

/**
 * The status that hiprtc functions return.
 */
typedef uint32_t hiprtcResult;

/**
 * A program's handle.
 */
typedef void *hiprtcProgram;

/**
 * A link state's handle.
 */
typedef void *hiprtcLinkState;

typedef uint32_t hipMemRangeCoherencyMode;

typedef uint32_t hipComputeMode;

typedef uint32_t hipStreamBatchMemOpType;

typedef uint32_t hipSynchronizationPolicy;

#define hipDeviceAttributeCudaCompatibleBegin 0

#define hipDeviceAttributeEccEnabled 0

#define hipDeviceAttributeAccessPolicyMaxWindowSize 1

#define hipDeviceAttributeAsyncEngineCount 2

#define hipDeviceAttributeCanMapHostMemory 3

#define hipDeviceAttributeCanUseHostPointerForRegisteredMem 4

#define hipDeviceAttributeClockRate 5

#define hipDeviceAttributeComputeMode 6

#define hipDeviceAttributeComputePreemptionSupported 7

#define hipDeviceAttributeConcurrentKernels 8

#define hipDeviceAttributeConcurrentManagedAccess 9

#define hipDeviceAttributeCooperativeLaunch 10

#define hipDeviceAttributeCooperativeMultiDeviceLaunch 11

#define hipDeviceAttributeDeviceOverlap 12

#define hipDeviceAttributeDirectManagedMemAccessFromHost 13

#define hipDeviceAttributeGlobalL1CacheSupported 14

#define hipDeviceAttributeHostNativeAtomicSupported 15

#define hipDeviceAttributeIntegrated 16

#define hipDeviceAttributeIsMultiGpuBoard 17

#define hipDeviceAttributeKernelExecTimeout 18

#define hipDeviceAttributeL2CacheSize 19

#define hipDeviceAttributeLocalL1CacheSupported 20

#define hipDeviceAttributeLuid 21

#define hipDeviceAttributeLuidDeviceNodeMask 22

#define hipDeviceAttributeComputeCapabilityMajor 23

#define hipDeviceAttributeManagedMemory 24

#define hipDeviceAttributeMaxBlocksPerMultiProcessor 25

#define hipDeviceAttributeMaxBlockDimX 26

#define hipDeviceAttributeMaxBlockDimY 27

#define hipDeviceAttributeMaxBlockDimZ 28

#define hipDeviceAttributeMaxGridDimX 29

#define hipDeviceAttributeMaxGridDimY 30

#define hipDeviceAttributeMaxGridDimZ 31

#define hipDeviceAttributeMaxSurface1D 32

#define hipDeviceAttributeMaxSurface1DLayered 33

#define hipDeviceAttributeMaxSurface2D 34

#define hipDeviceAttributeMaxSurface2DLayered 35

#define hipDeviceAttributeMaxSurface3D 36

#define hipDeviceAttributeMaxSurfaceCubemap 37

#define hipDeviceAttributeMaxSurfaceCubemapLayered 38

#define hipDeviceAttributeMaxTexture1DWidth 39

#define hipDeviceAttributeMaxTexture1DLayered 40

#define hipDeviceAttributeMaxTexture1DLinear 41

#define hipDeviceAttributeMaxTexture1DMipmap 42

#define hipDeviceAttributeMaxTexture2DWidth 43

#define hipDeviceAttributeMaxTexture2DHeight 44

#define hipDeviceAttributeMaxTexture2DGather 45

#define hipDeviceAttributeMaxTexture2DLayered 46

#define hipDeviceAttributeMaxTexture2DLinear 47

#define hipDeviceAttributeMaxTexture2DMipmap 48

#define hipDeviceAttributeMaxTexture3DWidth 49

#define hipDeviceAttributeMaxTexture3DHeight 50

#define hipDeviceAttributeMaxTexture3DDepth 51

#define hipDeviceAttributeMaxTexture3DAlt 52

#define hipDeviceAttributeMaxTextureCubemap 53

#define hipDeviceAttributeMaxTextureCubemapLayered 54

#define hipDeviceAttributeMaxThreadsDim 55

#define hipDeviceAttributeMaxThreadsPerBlock 56

#define hipDeviceAttributeMaxThreadsPerMultiProcessor 57

#define hipDeviceAttributeMaxPitch 58

#define hipDeviceAttributeMemoryBusWidth 59

#define hipDeviceAttributeMemoryClockRate 60

#define hipDeviceAttributeComputeCapabilityMinor 61

#define hipDeviceAttributeMultiGpuBoardGroupID 62

#define hipDeviceAttributeMultiprocessorCount 63

#define hipDeviceAttributeName 64

#define hipDeviceAttributePageableMemoryAccess 65

#define hipDeviceAttributePageableMemoryAccessUsesHostPageTables 66

#define hipDeviceAttributePciBusId 67

#define hipDeviceAttributePciDeviceId 68

#define hipDeviceAttributePciDomainID 69

#define hipDeviceAttributePersistingL2CacheMaxSize 70

#define hipDeviceAttributeMaxRegistersPerBlock 71

#define hipDeviceAttributeMaxRegistersPerMultiprocessor 72

#define hipDeviceAttributeReservedSharedMemPerBlock 73

#define hipDeviceAttributeMaxSharedMemoryPerBlock 74

#define hipDeviceAttributeSharedMemPerBlockOptin 75

#define hipDeviceAttributeSharedMemPerMultiprocessor 76

#define hipDeviceAttributeSingleToDoublePrecisionPerfRatio 77

#define hipDeviceAttributeStreamPrioritiesSupported 78

#define hipDeviceAttributeSurfaceAlignment 79

#define hipDeviceAttributeTccDriver 80

#define hipDeviceAttributeTextureAlignment 81

#define hipDeviceAttributeTexturePitchAlignment 82

#define hipDeviceAttributeTotalConstantMemory 83

#define hipDeviceAttributeTotalGlobalMem 84

#define hipDeviceAttributeUnifiedAddressing 85

#define hipDeviceAttributeUuid 86

#define hipDeviceAttributeWarpSize 87

#define hipDeviceAttributeMemoryPoolsSupported 88

#define hipDeviceAttributeCudaCompatibleEnd 9999

#define hipDeviceAttributeAmdSpecificBegin 10000

#define hipDeviceAttributeClockInstructionRate 10000

#define hipDeviceAttributeArch 10001

#define hipDeviceAttributeMaxSharedMemoryPerMultiprocessor 10002

#define hipDeviceAttributeGcnArch 10003

#define hipDeviceAttributeGcnArchName 10004

#define hipDeviceAttributeHdpMemFlushCntl 10005

#define hipDeviceAttributeHdpRegFlushCntl 10006

#define hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc 10007

#define hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim 10008

#define hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim 10009

#define hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem 10010

#define hipDeviceAttributeIsLargeBar 10011

#define hipDeviceAttributeAsicRevision 10012

#define hipDeviceAttributeCanUseStreamWaitValue 10013

#define hipDeviceAttributeImageSupport 10014

#define hipDeviceAttributePhysicalMultiProcessorCount 10015

#define hipDeviceAttributeFineGrainSupport 10016

#define hipDeviceAttributeAmdSpecificEnd 19999

#define hipDeviceAttributeVendorSpecificBegin 20000

#define hipDeviceAttributeUnused1 64

#define hipDeviceAttributeUnused2 86

#define hipDeviceAttributeVirtualMemoryManagementSupported 89

#define hipDeviceAttributeHostRegisterSupported 90

#define hipDeviceAttributeMemoryPoolSupportedHandleTypes 91

#define hipDeviceAttributeUnused3 10001

#define hipDeviceAttributeUnused4 10003

#define hipDeviceAttributeUnused5 10004

#define hipDeviceAttributeWallClockRate 10017

#define hipDeviceAttributePciDomainId 69

#define hipDeviceAttributeNumberOfXccs 10018

#define hipDeviceAttributeMaxAvailableVgprsPerThread 10019

#define hipDeviceAttributePciChipId 10020

#define hipMemcpyHostToHost 0

#define hipMemcpyHostToDevice 1

#define hipMemcpyDeviceToHost 2

#define hipMemcpyDeviceToDevice 3

#define hipMemcpyDefault 4

#define hipMemcpyDeviceToDeviceNoCU 1024

#define hipFuncAttributeMaxDynamicSharedMemorySize 8

#define hipFuncAttributePreferredSharedMemoryCarveout 9

#define hipFuncAttributeMax 10

#define hipMemAdviseSetReadMostly 1

#define hipMemAdviseUnsetReadMostly 2

#define hipMemAdviseSetPreferredLocation 3

#define hipMemAdviseUnsetPreferredLocation 4

#define hipMemAdviseSetAccessedBy 5

#define hipMemAdviseUnsetAccessedBy 6

#define hipMemAdviseSetCoarseGrain 100

#define hipMemAdviseUnsetCoarseGrain 101

#define hipMemRangeAttributeReadMostly 1

#define hipMemRangeAttributePreferredLocation 2

#define hipMemRangeAttributeAccessedBy 3

#define hipMemRangeAttributeLastPrefetchLocation 4

#define hipMemRangeAttributeCoherencyMode 100

#define hipMemRangeCoherencyModeFineGrain 0

#define hipMemRangeCoherencyModeCoarseGrain 1

#define hipMemRangeCoherencyModeIndeterminate 2

#define hipLimitPrintfFifoSize 1

#define hipLimitMallocHeapSize 2

#define hipLimitStackSize 0

#define hipLimitRange 4099

#define hipExtLimitScratchMin 4096

#define hipExtLimitScratchMax 4097

#define hipExtLimitScratchCurrent 4098

#define hipDevP2PAttrPerformanceRank 0

#define hipDevP2PAttrAccessSupported 1

#define hipDevP2PAttrNativeAtomicSupported 2

#define hipDevP2PAttrHipArrayAccessSupported 3

#define hipFuncCachePreferNone 0

#define hipFuncCachePreferShared 1

#define hipFuncCachePreferL1 2

#define hipFuncCachePreferEqual 3

#define hipSharedMemBankSizeDefault 0

#define hipSharedMemBankSizeFourByte 1

#define hipSharedMemBankSizeEightByte 2

#define hipMemPoolReuseFollowEventDependencies 1

#define hipMemPoolReuseAllowOpportunistic 2

#define hipMemPoolReuseAllowInternalDependencies 3

#define hipMemPoolAttrReleaseThreshold 4

#define hipMemPoolAttrReservedMemCurrent 5

#define hipMemPoolAttrReservedMemHigh 6

#define hipMemPoolAttrUsedMemCurrent 7

#define hipMemPoolAttrUsedMemHigh 8

#define hipMemLocationTypeInvalid 0

#define hipMemLocationTypeDevice 1

#define hipMemLocationTypeNone 0

#define hipMemLocationTypeHost 2

#define hipMemLocationTypeHostNuma 3

#define hipMemLocationTypeHostNumaCurrent 4

#define hipMemAccessFlagsProtNone 0

#define hipMemAccessFlagsProtRead 1

#define hipMemAccessFlagsProtReadWrite 3

#define hipMemAllocationTypeInvalid 0

#define hipMemAllocationTypePinned 1

#define hipMemAllocationTypeMax 2147483647

#define hipMemAllocationTypeUncached 1073741824

#define hipMemHandleTypeNone 0

#define hipMemHandleTypePosixFileDescriptor 1

#define hipMemHandleTypeWin32 2

#define hipMemHandleTypeWin32Kmt 4

#define hipStreamCaptureStatusNone 0

#define hipStreamCaptureStatusActive 1

#define hipStreamCaptureStatusInvalidated 2

#define hipStreamCaptureModeGlobal 0

#define hipStreamCaptureModeThreadLocal 1

#define hipStreamCaptureModeRelaxed 2

#define hipChannelFormatKindSigned 0

#define hipChannelFormatKindUnsigned 1

#define hipChannelFormatKindFloat 2

#define hipChannelFormatKindNone 3

#define hipComputeModeDefault 0

#define hipComputeModeExclusive 1

#define hipComputeModeProhibited 2

#define hipComputeModeExclusiveProcess 3

#define hipMemAllocationGranularityMinimum 0

#define hipMemAllocationGranularityRecommended 1

#define hipStreamMemOpWaitValue32 1

#define hipStreamMemOpWriteValue32 2

#define hipStreamMemOpWaitValue64 4

#define hipStreamMemOpWriteValue64 5

#define hipStreamMemOpBarrier 6

#define hipStreamMemOpFlushRemoteWrites 3

#define hipSyncPolicyAuto 1

#define hipSyncPolicySpin 2

#define hipSyncPolicyYield 3

#define hipSyncPolicyBlockingSync 4

#define hipResourceTypeArray 0

#define hipResourceTypeMipmappedArray 1

#define hipResourceTypeLinear 2

#define hipResourceTypePitch2D 3

#define hipAddressModeWrap 0

#define hipAddressModeClamp 1

#define hipAddressModeMirror 2

#define hipAddressModeBorder 3

#define hipFilterModePoint 0

#define hipFilterModeLinear 1

#define hipReadModeElementType 0

#define hipReadModeNormalizedFloat 1

#define hipResViewFormatNone 0

#define hipResViewFormatUnsignedChar1 1

#define hipResViewFormatUnsignedChar2 2

#define hipResViewFormatUnsignedChar4 3

#define hipResViewFormatSignedChar1 4

#define hipResViewFormatSignedChar2 5

#define hipResViewFormatSignedChar4 6

#define hipResViewFormatUnsignedShort1 7

#define hipResViewFormatUnsignedShort2 8

#define hipResViewFormatUnsignedShort4 9

#define hipResViewFormatSignedShort1 10

#define hipResViewFormatSignedShort2 11

#define hipResViewFormatSignedShort4 12

#define hipResViewFormatUnsignedInt1 13

#define hipResViewFormatUnsignedInt2 14

#define hipResViewFormatUnsignedInt4 15

#define hipResViewFormatSignedInt1 16

#define hipResViewFormatSignedInt2 17

#define hipResViewFormatSignedInt4 18

#define hipResViewFormatHalf1 19

#define hipResViewFormatHalf2 20

#define hipResViewFormatHalf4 21

#define hipResViewFormatFloat1 22

#define hipResViewFormatFloat2 23

#define hipResViewFormatFloat4 24

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Creates an array of one or two dimensions.
 */
hipError_t hipMallocArray(hipArray_t *array,
                          const struct hipChannelFormatDesc *desc,
                          size_t width,
                          size_t height,
                          uint32_t flags);

/**
 * Creates an array of up to three dimensions.
 */
hipError_t hipMalloc3DArray(hipArray_t *array,
                            const struct hipChannelFormatDesc *desc,
                            struct hipExtent extent,
                            uint32_t flags);

/**
 * Creates an array of one or two dimensions (driver API).
 */
hipError_t hipArrayCreate(hipArray_t *pHandle, const struct HIP_ARRAY_DESCRIPTOR *pAllocateArray);

/**
 * Creates an array of up to three dimensions (driver API).
 */
hipError_t hipArray3DCreate(hipArray_t *array, const struct HIP_ARRAY3D_DESCRIPTOR *pAllocateArray);

/**
 * Frees an array.
 */
hipError_t hipFreeArray(hipArray_t array);

/**
 * Frees an array (driver API).
 */
hipError_t hipArrayDestroy(hipArray_t array);

/**
 * Tells an array's format, size and flags; null places are passed over.
 */
hipError_t hipArrayGetInfo(struct hipChannelFormatDesc *desc,
                           struct hipExtent *extent,
                           uint32_t *flags,
                           hipArray_t array);

/**
 * Tells an array's shape (driver API).
 */
hipError_t hipArrayGetDescriptor(struct HIP_ARRAY_DESCRIPTOR *pArrayDescriptor, hipArray_t array);

/**
 * Tells an array's shape in three dimensions (driver API).
 */
hipError_t hipArray3DGetDescriptor(struct HIP_ARRAY3D_DESCRIPTOR *pArrayDescriptor,
                                   hipArray_t array);

/**
 * Tells an array's channel format.
 */
hipError_t hipGetChannelDesc(struct hipChannelFormatDesc *desc, hipArray_t array);

/**
 * Makes a channel description.
 *
 * # Safety
 * None.
 */
struct hipChannelFormatDesc hipCreateChannelDesc(int32_t x,
                                                 int32_t y,
                                                 int32_t z,
                                                 int32_t w,
                                                 hipChannelFormatKind f);

/**
 * Copies rows to an array.
 */
hipError_t hipMemcpy2DToArray(hipArray_t dst,
                              size_t wOffset,
                              size_t hOffset,
                              const void *src,
                              size_t spitch,
                              size_t width,
                              size_t height,
                              hipMemcpyKind kind);

/**
 * Copies rows to an array in stream order.
 */
hipError_t hipMemcpy2DToArrayAsync(hipArray_t dst,
                                   size_t wOffset,
                                   size_t hOffset,
                                   const void *src,
                                   size_t spitch,
                                   size_t width,
                                   size_t height,
                                   hipMemcpyKind kind,
                                   hipStream_t stream);

/**
 * Copies rows from an array.
 */
hipError_t hipMemcpy2DFromArray(void *dst,
                                size_t dpitch,
                                hipArray_t src,
                                size_t wOffset,
                                size_t hOffset,
                                size_t width,
                                size_t height,
                                hipMemcpyKind kind);

/**
 * Copies rows from an array in stream order.
 */
hipError_t hipMemcpy2DFromArrayAsync(void *dst,
                                     size_t dpitch,
                                     hipArray_t src,
                                     size_t wOffset,
                                     size_t hOffset,
                                     size_t width,
                                     size_t height,
                                     hipMemcpyKind kind,
                                     hipStream_t stream);

/**
 * Copies bytes to a row of an array.
 */
hipError_t hipMemcpyToArray(hipArray_t dst,
                            size_t wOffset,
                            size_t hOffset,
                            const void *src,
                            size_t count,
                            hipMemcpyKind kind);

/**
 * Copies bytes from a row of an array.
 */
hipError_t hipMemcpyFromArray(void *dst,
                              hipArray_t srcArray,
                              size_t wOffset,
                              size_t hOffset,
                              size_t count,
                              hipMemcpyKind kind);

/**
 * Copies host bytes to a one-dimensional array.
 */
hipError_t hipMemcpyHtoA(hipArray_t dstArray, size_t dstOffset, const void *srcHost, size_t count);

/**
 * Copies bytes of a one-dimensional array to the host.
 */
hipError_t hipMemcpyAtoH(void *dst, hipArray_t srcArray, size_t srcOffset, size_t count);

/**
 * Copies between one-dimensional arrays.
 */
hipError_t hipMemcpyAtoA(hipArray_t dstArray,
                         size_t dstOffset,
                         hipArray_t srcArray,
                         size_t srcOffset,
                         size_t ByteCount);

/**
 * Copies a one-dimensional array to device memory.
 */
hipError_t hipMemcpyAtoD(hipDeviceptr_t dstDevice,
                         hipArray_t srcArray,
                         size_t srcOffset,
                         size_t ByteCount);

/**
 * Copies device memory to a one-dimensional array.
 */
hipError_t hipMemcpyDtoA(hipArray_t dstArray,
                         size_t dstOffset,
                         hipDeviceptr_t srcDevice,
                         size_t ByteCount);

/**
 * Copies bytes of a one-dimensional array to the host in stream order.
 */
hipError_t hipMemcpyAtoHAsync(void *dstHost,
                              hipArray_t srcArray,
                              size_t srcOffset,
                              size_t ByteCount,
                              hipStream_t stream);

/**
 * Copies host bytes to a one-dimensional array in stream order.
 */
hipError_t hipMemcpyHtoAAsync(hipArray_t dstArray,
                              size_t dstOffset,
                              const void *srcHost,
                              size_t ByteCount,
                              hipStream_t stream);

/**
 * Copies rows between arrays.
 */
hipError_t hipMemcpy2DArrayToArray(hipArray_t dst,
                                   size_t wOffsetDst,
                                   size_t hOffsetDst,
                                   hipArray_t src,
                                   size_t wOffsetSrc,
                                   size_t hOffsetSrc,
                                   size_t width,
                                   size_t height,
                                   hipMemcpyKind kind);

/**
 * Copies slices of rows between devices.
 */
hipError_t hipMemcpy3DPeer(struct hipMemcpy3DPeerParms *p);

/**
 * Copies slices of rows between devices in stream order.
 */
hipError_t hipMemcpy3DPeerAsync(struct hipMemcpy3DPeerParms *p, hipStream_t stream);

/**
 * Copies several ranges in stream order. The attributes are hints.
 */
hipError_t hipMemcpyBatchAsync(void **dsts,
                               void **srcs,
                               size_t *sizes,
                               size_t count,
                               struct hipMemcpyAttributes *attrs,
                               size_t *attrsIdxs,
                               size_t numAttrs,
                               size_t *failIdx,
                               hipStream_t stream);

/**
 * Copies several boxes in stream order. Access order and flags are hints.
 */
hipError_t hipMemcpy3DBatchAsync(size_t numOps,
                                 struct hipMemcpy3DBatchOp *opList,
                                 size_t *failIdx,
                                 uint64_t flags,
                                 hipStream_t stream);

/**
 * Begins to capture what a stream is asked to do.
 */
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);

/**
 * Begins to capture, with the thread's own stream as the default.
 */
hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode);

/**
 * Begins to capture into a graph, after nodes of it.
 */
hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream,
                                        hipGraph_t graph,
                                        const hipGraphNode_t *dependencies,
                                        const void *dependencyData,
                                        size_t numDependencies,
                                        hipStreamCaptureMode mode);

/**
 * Ends a capture and gives its graph.
 */
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph);

/**
 * Ends a capture, with the thread's own stream as the default.
 */
hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t *pGraph);

/**
 * Whether a stream captures.
 */
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus);

/**
 * Whether a stream captures, with the thread's own stream as the default.
 */
hipError_t hipStreamIsCapturing_spt(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus);

/**
 * Tells about a stream's capture.
 */
hipError_t hipStreamGetCaptureInfo(hipStream_t stream,
                                   hipStreamCaptureStatus *pCaptureStatus,
                                   uint64_t *pId);

/**
 * Tells about a stream's capture, with the thread's own stream as the default.
 */
hipError_t hipStreamGetCaptureInfo_spt(hipStream_t stream,
                                       hipStreamCaptureStatus *pCaptureStatus,
                                       uint64_t *pId);

/**
 * Tells about a stream's capture, its graph and the nodes that the next one comes after.
 */
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream,
                                      hipStreamCaptureStatus *captureStatus_out,
                                      uint64_t *id_out,
                                      hipGraph_t *graph_out,
                                      const hipGraphNode_t **dependencies_out,
                                      size_t *numDependencies_out);

/**
 * As `hipStreamGetCaptureInfo_v2`, with the thread's own stream as the default.
 */
hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t stream,
                                          hipStreamCaptureStatus *captureStatus_out,
                                          uint64_t *id_out,
                                          hipGraph_t *graph_out,
                                          const hipGraphNode_t **dependencies_out,
                                          size_t *numDependencies_out);

/**
 * Changes the nodes that a capturing stream's next node comes after: adds to them (flags 0), or replaces them (1).
 */
hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream,
                                              hipGraphNode_t *dependencies,
                                              size_t numDependencies,
                                              uint32_t flags);

/**
 * Exchanges the calling thread's capture mode.
 */
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode);

/**
 * Keeps a launch's configuration (the older form of `<<<…>>>`).
 */
hipError_t hipConfigureCall(struct dim3 gridDim,
                            struct dim3 blockDim,
                            size_t sharedMem,
                            hipStream_t stream);

/**
 * Adds an argument to the launch that `hipConfigureCall` began.
 */
hipError_t hipSetupArgument(const void *arg, size_t size, size_t offset);

/**
 * Launches a registered kernel with what `hipConfigureCall` and `hipSetupArgument` kept.
 */
hipError_t hipLaunchByPtr(const void *func);

/**
 * Gives a device's context and makes it current.
 */
hipError_t hipCtxCreate(hipCtx_t *ctx, uint32_t flags, hipDevice_t device);

/**
 * Ends a context handle. The device's context itself stays.
 */
hipError_t hipCtxDestroy(hipCtx_t ctx);

/**
 * Takes the current context away and makes the one below current.
 */
hipError_t hipCtxPopCurrent(hipCtx_t *ctx);

/**
 * Makes a context current, above the present one.
 */
hipError_t hipCtxPushCurrent(hipCtx_t ctx);

/**
 * Makes a context current in place of the present one.
 */
hipError_t hipCtxSetCurrent(hipCtx_t ctx);

/**
 * Gives the current context.
 */
hipError_t hipCtxGetCurrent(hipCtx_t *ctx);

/**
 * Gives the current context's device.
 */
hipError_t hipCtxGetDevice(hipDevice_t *device);

/**
 * Gives the presented HIP major version.
 */
hipError_t hipCtxGetApiVersion(hipCtx_t ctx, uint32_t *apiVersion);

/**
 * Gives the current context's cache preference: none.
 */
hipError_t hipCtxGetCacheConfig(hipFuncCache_t *cacheConfig);

/**
 * Sets the current context's cache preference, which AMD devices do not have.
 */
hipError_t hipCtxSetCacheConfig(hipFuncCache_t cacheConfig);

/**
 * Gives the LDS bank size: four bytes.
 */
hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *pConfig);

/**
 * Sets the LDS bank size, which is fixed on AMD devices.
 */
hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config);

/**
 * Waits for all work of the current context's device.
 */
hipError_t hipCtxSynchronize(void);

/**
 * Gives the current context's flags.
 */
hipError_t hipCtxGetFlags(uint32_t *flags);

/**
 * Lets the current context's device access another context's memory.
 */
hipError_t hipCtxEnablePeerAccess(hipCtx_t peerCtx, uint32_t flags);

/**
 * Ends the current context's access to another's memory.
 */
hipError_t hipCtxDisablePeerAccess(hipCtx_t peerCtx);

/**
 * Tells a primary context's flags, and that it is active.
 */
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t dev, uint32_t *flags, int32_t *active);

/**
 * Gives up a primary context, which stays as long as the process.
 */
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t dev);

/**
 * Gives a device's primary context.
 */
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *pctx, hipDevice_t dev);

/**
 * Resets a primary context. As in AMD's runtime this changes nothing, and the number of a device that is not there is no error.
 */
hipError_t hipDevicePrimaryCtxReset(hipDevice_t dev);

/**
 * Sets a primary context's flags, which fails as the context is always active.
 */
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t dev, uint32_t flags);

/**
 * Copies bytes; returns when they are there.
 */
hipError_t hipMemcpy(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind);

/**
 * Copies bytes in a stream; returns when they are there.
 */
hipError_t hipMemcpyWithStream(void *dst,
                               const void *src,
                               size_t sizeBytes,
                               hipMemcpyKind kind,
                               hipStream_t stream);

/**
 * Copies bytes in stream order.
 */
hipError_t hipMemcpyAsync(void *dst,
                          const void *src,
                          size_t sizeBytes,
                          hipMemcpyKind kind,
                          hipStream_t stream);

/**
 * Copies from host to device memory.
 */
hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, void *src, size_t sizeBytes);

/**
 * Copies from device to host memory.
 */
hipError_t hipMemcpyDtoH(void *dst, hipDeviceptr_t src, size_t sizeBytes);

/**
 * Copies from device to device memory.
 */
hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes);

/**
 * Copies from host to device memory in stream order.
 */
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, void *src, size_t sizeBytes, hipStream_t stream);

/**
 * Copies from device to host memory in stream order.
 */
hipError_t hipMemcpyDtoHAsync(void *dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream);

/**
 * Copies from device to device memory in stream order.
 */
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst,
                              hipDeviceptr_t src,
                              size_t sizeBytes,
                              hipStream_t stream);

/**
 * Fills bytes.
 */
hipError_t hipMemset(void *dst, int32_t value, size_t sizeBytes);

/**
 * Fills bytes in stream order.
 */
hipError_t hipMemsetAsync(void *dst, int32_t value, size_t sizeBytes, hipStream_t stream);

/**
 * Fills bytes.
 */
hipError_t hipMemsetD8(hipDeviceptr_t dest, uint8_t value, size_t count);

/**
 * Fills bytes in stream order.
 */
hipError_t hipMemsetD8Async(hipDeviceptr_t dest, uint8_t value, size_t count, hipStream_t stream);

/**
 * Fills 16-bit elements.
 */
hipError_t hipMemsetD16(hipDeviceptr_t dest, uint16_t value, size_t count);

/**
 * Fills 16-bit elements in stream order.
 */
hipError_t hipMemsetD16Async(hipDeviceptr_t dest, uint16_t value, size_t count, hipStream_t stream);

/**
 * Fills 32-bit elements.
 */
hipError_t hipMemsetD32(hipDeviceptr_t dest, int32_t value, size_t count);

/**
 * Fills 32-bit elements in stream order.
 */
hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int32_t value, size_t count, hipStream_t stream);

/**
 * Copies rows as a record of the driver API says.
 */
hipError_t hipMemcpyParam2D(const struct hip_Memcpy2D *pCopy);

/**
 * Copies rows as a record of the driver API says, in stream order.
 */
hipError_t hipMemcpyParam2DAsync(const struct hip_Memcpy2D *pCopy, hipStream_t stream);

/**
 * Copies rows as a record of the driver API says; pitches need no alignment.
 */
hipError_t hipDrvMemcpy2DUnaligned(const struct hip_Memcpy2D *pCopy);

/**
 * Allocates rows of device memory.
 */
hipError_t hipMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height);

/**
 * Allocates rows of device memory for elements of 4, 8 or 16 bytes.
 */
hipError_t hipMemAllocPitch(hipDeviceptr_t *dptr,
                            size_t *pitch,
                            size_t widthInBytes,
                            size_t height,
                            uint32_t elementSizeBytes);

/**
 * Allocates slices of rows of device memory.
 */
hipError_t hipMalloc3D(struct hipPitchedPtr *pitchedDevPtr, struct hipExtent extent);

/**
 * Copies rows; returns when they are there.
 */
hipError_t hipMemcpy2D(void *dst,
                       size_t dpitch,
                       const void *src,
                       size_t spitch,
                       size_t width,
                       size_t height,
                       hipMemcpyKind kind);

/**
 * Copies rows in stream order.
 */
hipError_t hipMemcpy2DAsync(void *dst,
                            size_t dpitch,
                            const void *src,
                            size_t spitch,
                            size_t width,
                            size_t height,
                            hipMemcpyKind kind,
                            hipStream_t stream);

/**
 * Copies slices of rows; returns when they are there.
 */
hipError_t hipMemcpy3D(const struct hipMemcpy3DParms *p);

/**
 * Copies slices of rows in stream order.
 */
hipError_t hipMemcpy3DAsync(const struct hipMemcpy3DParms *p, hipStream_t stream);

/**
 * Starts HIP; flags must be 0.
 */
hipError_t hipInit(uint32_t flags);

/**
 * Gives the presented HIP version as a number.
 */
hipError_t hipDriverGetVersion(int32_t *driverVersion);

/**
 * Gives the presented HIP version as a number.
 */
hipError_t hipRuntimeGetVersion(int32_t *runtimeVersion);

/**
 * Counts the devices; `hipErrorNoDevice` and 0 if there are none.
 */
hipError_t hipGetDeviceCount(int32_t *count);

/**
 * Sets the calling thread's device.
 */
hipError_t hipSetDevice(int32_t deviceId);

/**
 * Gives the calling thread's device.
 */
hipError_t hipGetDevice(int32_t *deviceId);

/**
 * Restricts the devices that a thread may get by default. All devices stay valid; only unknown ones are refused.
 */
hipError_t hipSetValidDevices(int32_t *device_arr,
                              int32_t len);

/**
 * Gives the handle of a device, which is its ordinal.
 */
hipError_t hipDeviceGet(hipDevice_t *device, int32_t ordinal);

/**
 * Gives a device's properties in the layout of HIP 5.
 */
hipError_t hipGetDeviceProperties(struct hipDeviceProp_tR0000 *prop, int32_t deviceId);

/**
 * Gives a device's properties in the layout of HIP 5.
 */
hipError_t hipGetDevicePropertiesR0000(struct hipDeviceProp_tR0000 *prop, int32_t deviceId);

/**
 * Gives a device's properties in the layout of HIP 6 and 7.
 */
hipError_t hipGetDevicePropertiesR0600(struct hipDeviceProp_tR0600 *prop, int32_t deviceId);

/**
 * Gives one attribute of a device.
 */
hipError_t hipDeviceGetAttribute(int32_t *pi, hipDeviceAttribute_t attr, int32_t deviceId);

/**
 * Gives the device that fits wanted properties best.
 */
hipError_t hipChooseDevice(int32_t *device, const struct hipDeviceProp_tR0000 *prop);

/**
 * Gives the device that fits wanted properties best (layout of HIP 5).
 */
hipError_t hipChooseDeviceR0000(int32_t *device, const struct hipDeviceProp_tR0000 *prop);

/**
 * Gives the device that fits wanted properties best (layout of HIP 6 and 7).
 */
hipError_t hipChooseDeviceR0600(int32_t *device, const struct hipDeviceProp_tR0600 *prop);

/**
 * Gives the target's major and minor version.
 */
hipError_t hipDeviceComputeCapability(int32_t *major, int32_t *minor, hipDevice_t device);

/**
 * Gives a device's name.
 */
hipError_t hipDeviceGetName(char *name, int32_t len, hipDevice_t device);

/**
 * Gives a device's UUID.
 */
hipError_t hipDeviceGetUuid(struct hipUUID *uuid, hipDevice_t device);

/**
 * Gives a device's memory in bytes.
 */
hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device);

/**
 * Gives a device's PCI address: `0000:43:00.0`.
 */
hipError_t hipDeviceGetPCIBusId(char *pciBusId, int32_t len, int32_t device);

/**
 * Finds a device by PCI address; the domain and the function may be left out.
 */
hipError_t hipDeviceGetByPCIBusId(int32_t *device, const char *pciBusId);

/**
 * Waits for all work of the current device.
 */
hipError_t hipDeviceSynchronize(void);

/**
 * Ends the current device's streams, forgets its loaded code, and clears a fault. Allocations stay.
 */
hipError_t hipDeviceReset(void);

/**
 * Sets how the host waits for the current device.
 */
hipError_t hipSetDeviceFlags(uint32_t flags);

/**
 * Gives the current device's flags.
 */
hipError_t hipGetDeviceFlags(uint32_t *flags);

/**
 * Sets the device's cache preference, which AMD devices do not have.
 */
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t cacheConfig);

/**
 * Gives the device's cache preference: none.
 */
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *cacheConfig);

/**
 * Sets the LDS bank size, which is fixed on AMD devices.
 */
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config);

/**
 * Gives the LDS bank size: four bytes.
 */
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *pConfig);

/**
 * Gives a limit of the current device.
 */
hipError_t hipDeviceGetLimit(size_t *pValue, uint32_t limit);

/**
 * Sets a limit of the current device. The heap grows as kernels ask for it, whatever its limit says.
 */
hipError_t hipDeviceSetLimit(hipLimit_t limit,
                             size_t value);

/**
 * Creates an event.
 */
hipError_t hipEventCreate(hipEvent_t *event);

/**
 * Creates an event with flags.
 */
hipError_t hipEventCreateWithFlags(hipEvent_t *event, uint32_t flags);

/**
 * Ends an event. Work that waits for it still does.
 */
hipError_t hipEventDestroy(hipEvent_t event);

/**
 * Records an event in a stream.
 */
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);

/**
 * Records an event in a stream; flags must be 0 (1 would be an external event of a capture).
 */
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, uint32_t flags);

/**
 * Waits for the last recording; success if there is none.
 */
hipError_t hipEventSynchronize(hipEvent_t event);

/**
 * Whether the last recording has been reached: success (also if there is none) or `hipErrorNotReady`.
 */
hipError_t hipEventQuery(hipEvent_t event);

/**
 * Milliseconds from the end of one recording to the end of another.
 */
hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop);

/**
 * Gives a file descriptor of a range of device memory, which `hipImportExternalMemory` and HIP of other processes take. It is not a
 * dma-buf of the kernel: other drivers refuse it.
 */
hipError_t hipMemGetHandleForAddressRange(void *handle,
                                          void *dptr,
                                          size_t size,
                                          uint32_t handleType,
                                          uint64_t flags);

/**
 * Takes over memory of another interface.
 */
hipError_t hipImportExternalMemory(hipExternalMemory_t *extMem_out,
                                   const struct hipExternalMemoryHandleDesc *memHandleDesc);

/**
 * Gives a device address of a part of imported memory. It lives until `hipFree`, also longer than the handle.
 */
hipError_t hipExternalMemoryGetMappedBuffer(void **devPtr,
                                            hipExternalMemory_t extMem,
                                            const struct hipExternalMemoryBufferDesc *bufferDesc);

/**
 * Ends the handle of imported memory; addresses that were given stay until they are freed.
 */
hipError_t hipDestroyExternalMemory(hipExternalMemory_t extMem);

/**
 * Fills rows of bytes.
 */
hipError_t hipMemset2D(void *dst, size_t pitch, int32_t value, size_t width, size_t height);

/**
 * Fills rows of bytes in stream order.
 */
hipError_t hipMemset2DAsync(void *dst,
                            size_t pitch,
                            int32_t value,
                            size_t width,
                            size_t height,
                            hipStream_t stream);

/**
 * Fills slices of rows of bytes.
 */
hipError_t hipMemset3D(struct hipPitchedPtr pitchedDevPtr, int32_t value, struct hipExtent extent);

/**
 * Fills slices of rows of bytes in stream order.
 */
hipError_t hipMemset3DAsync(struct hipPitchedPtr pitchedDevPtr,
                            int32_t value,
                            struct hipExtent extent,
                            hipStream_t stream);

/**
 * Fills rows of bytes; the width is in elements.
 */
hipError_t hipMemsetD2D8(hipDeviceptr_t dst,
                         size_t dstPitch,
                         uint8_t value,
                         size_t width,
                         size_t height);

/**
 * Fills rows of bytes in stream order; the width is in elements.
 */
hipError_t hipMemsetD2D8Async(hipDeviceptr_t dst,
                              size_t dstPitch,
                              uint8_t value,
                              size_t width,
                              size_t height,
                              hipStream_t stream);

/**
 * Fills rows of 16-bit elements; the width is in elements.
 */
hipError_t hipMemsetD2D16(hipDeviceptr_t dst,
                          size_t dstPitch,
                          uint16_t value,
                          size_t width,
                          size_t height);

/**
 * Fills rows of 16-bit elements in stream order; the width is in elements.
 */
hipError_t hipMemsetD2D16Async(hipDeviceptr_t dst,
                               size_t dstPitch,
                               uint16_t value,
                               size_t width,
                               size_t height,
                               hipStream_t stream);

/**
 * Fills rows of 32-bit elements; the width is in elements.
 */
hipError_t hipMemsetD2D32(hipDeviceptr_t dst,
                          size_t dstPitch,
                          uint32_t value,
                          size_t width,
                          size_t height);

/**
 * Fills rows of 32-bit elements in stream order; the width is in elements.
 */
hipError_t hipMemsetD2D32Async(hipDeviceptr_t dst,
                               size_t dstPitch,
                               uint32_t value,
                               size_t width,
                               size_t height,
                               hipStream_t stream);

/**
 * Gives the handle of a registered kernel on the current device.
 */
hipError_t hipGetFuncBySymbol(hipFunction_t *functionPtr, const void *symbolPtr);

/**
 * Gives a registered kernel's name, or null.
 *
 * # Safety
 * The address is checked. The string lives as long as the program's binary.
 */
const char *hipKernelNameRefByPtr(const void *hostFunction, hipStream_t stream);

/**
 * Tells what a registered kernel needs.
 */
hipError_t hipFuncGetAttributes(struct hipFuncAttributes *attr, const void *func);

/**
 * Tells one thing that a kernel of a module needs.
 */
hipError_t hipFuncGetAttribute(int32_t *value, hipFunction_attribute attrib, hipFunction_t hfunc);

/**
 * Sets a limit of a registered kernel.
 */
hipError_t hipFuncSetAttribute(const void *func, hipFuncAttribute attr, int32_t value);

/**
 * Sets a registered kernel's cache preference, which AMD devices do not have.
 */
hipError_t hipFuncSetCacheConfig(const void *func, hipFuncCache_t config);

/**
 * Sets a registered kernel's LDS bank size, which AMD devices do not have.
 */
hipError_t hipFuncSetSharedMemConfig(const void *func, hipSharedMemConfig config);

/**
 * Writes a graph as a drawing for Graphviz.
 */
hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char *path, uint32_t flags);

/**
 * Makes an executable graph from a graph as it is now.
 */
hipError_t hipGraphInstantiate(hipGraphExec_t *pGraphExec,
                               hipGraph_t graph,
                               hipGraphNode_t *pErrorNode,
                               char *pLogBuffer,
                               size_t bufferSize);

/**
 * Makes an executable graph, with flags.
 */
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *pGraphExec,
                                        hipGraph_t graph,
                                        uint64_t flags);

/**
 * Makes an executable graph as a record says, and tells in it what became of that.
 */
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *pGraphExec,
                                         hipGraph_t graph,
                                         struct hipGraphInstantiateParams *instantiateParams);

/**
 * Gives the flags that an executable graph was made with.
 */
hipError_t hipGraphExecGetFlags(hipGraphExec_t graphExec, uint64_t *flags);

/**
 * Launches an executable graph in a stream.
 */
hipError_t hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream);

/**
 * Launches an executable graph, with the thread's own stream as the default.
 */
hipError_t hipGraphLaunch_spt(hipGraphExec_t graphExec, hipStream_t stream);

/**
 * Prepares an executable graph, so that its first launch has nothing left to do for that.
 */
hipError_t hipGraphUpload(hipGraphExec_t graphExec, hipStream_t stream);

/**
 * Ends an executable graph. Launches of it run to their end.
 */
hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec);

/**
 * Adds a kernel node. The arguments are copied.
 */
hipError_t hipGraphAddKernelNode(hipGraphNode_t *pGraphNode,
                                 hipGraph_t graph,
                                 const hipGraphNode_t *pDependencies,
                                 size_t numDependencies,
                                 const struct hipKernelNodeParams *pNodeParams);

/**
 * Gives a kernel node's parameters; the pointers are valid until the node changes.
 */
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node,
                                       struct hipKernelNodeParams *pNodeParams);

/**
 * Changes a kernel node's parameters.
 */
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node,
                                       const struct hipKernelNodeParams *pNodeParams);

/**
 * Changes a kernel node's parameters in an executable graph.
 */
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t hGraphExec,
                                           hipGraphNode_t node,
                                           const struct hipKernelNodeParams *pNodeParams);

/**
 * Reads an attribute of a kernel node.
 */
hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t hNode, uint32_t attr, void *value);

/**
 * Sets an attribute of a kernel node.
 */
hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t hNode, uint32_t attr, const void *value);

/**
 * Copies the attributes of a kernel node to another one.
 */
hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t hSrc, hipGraphNode_t hDst);

/**
 * Adds a copy node of up to three dimensions.
 */
hipError_t hipGraphAddMemcpyNode(hipGraphNode_t *pGraphNode,
                                 hipGraph_t graph,
                                 const hipGraphNode_t *pDependencies,
                                 size_t numDependencies,
                                 const struct hipMemcpy3DParms *pCopyParams);

/**
 * Gives a copy node's parameters; a linear copy as one row.
 */
hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, struct hipMemcpy3DParms *pNodeParams);

/**
 * Changes a copy node.
 */
hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node,
                                       const struct hipMemcpy3DParms *pNodeParams);

/**
 * Changes a copy node in an executable graph.
 */
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec,
                                           hipGraphNode_t node,
                                           struct hipMemcpy3DParms *pNodeParams);

/**
 * Adds a linear copy node.
 */
hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *pGraphNode,
                                   hipGraph_t graph,
                                   const hipGraphNode_t *pDependencies,
                                   size_t numDependencies,
                                   void *dst,
                                   const void *src,
                                   size_t count,
                                   hipMemcpyKind kind);

/**
 * Makes a copy node linear, or changes it.
 */
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node,
                                         void *dst,
                                         const void *src,
                                         size_t count,
                                         hipMemcpyKind kind);

/**
 * Changes a linear copy node in an executable graph.
 */
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t hGraphExec,
                                             hipGraphNode_t node,
                                             void *dst,
                                             const void *src,
                                             size_t count,
                                             hipMemcpyKind kind);

/**
 * Adds a copy node from a variable.
 */
hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t *pGraphNode,
                                           hipGraph_t graph,
                                           const hipGraphNode_t *pDependencies,
                                           size_t numDependencies,
                                           void *dst,
                                           const void *symbol,
                                           size_t count,
                                           size_t offset,
                                           hipMemcpyKind kind);

/**
 * Changes a copy node to one from a variable.
 */
hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node,
                                                 void *dst,
                                                 const void *symbol,
                                                 size_t count,
                                                 size_t offset,
                                                 hipMemcpyKind kind);

/**
 * Changes a copy node in an executable graph to one from a variable.
 */
hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t hGraphExec,
                                                     hipGraphNode_t node,
                                                     void *dst,
                                                     const void *symbol,
                                                     size_t count,
                                                     size_t offset,
                                                     hipMemcpyKind kind);

/**
 * Adds a copy node to a variable.
 */
hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t *pGraphNode,
                                         hipGraph_t graph,
                                         const hipGraphNode_t *pDependencies,
                                         size_t numDependencies,
                                         const void *symbol,
                                         const void *src,
                                         size_t count,
                                         size_t offset,
                                         hipMemcpyKind kind);

/**
 * Changes a copy node to one to a variable.
 */
hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node,
                                               const void *symbol,
                                               const void *src,
                                               size_t count,
                                               size_t offset,
                                               hipMemcpyKind kind);

/**
 * Changes a copy node in an executable graph to one to a variable.
 */
hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t hGraphExec,
                                                   hipGraphNode_t node,
                                                   const void *symbol,
                                                   const void *src,
                                                   size_t count,
                                                   size_t offset,
                                                   hipMemcpyKind kind);

/**
 * Adds a fill node.
 */
hipError_t hipGraphAddMemsetNode(hipGraphNode_t *pGraphNode,
                                 hipGraph_t graph,
                                 const hipGraphNode_t *pDependencies,
                                 size_t numDependencies,
                                 const struct hipMemsetParams *pMemsetParams);

/**
 * Gives a fill node's parameters.
 */
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, struct hipMemsetParams *pNodeParams);

/**
 * Changes a fill node.
 */
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node,
                                       const struct hipMemsetParams *pNodeParams);

/**
 * Changes a fill node in an executable graph.
 */
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec,
                                           hipGraphNode_t node,
                                           const struct hipMemsetParams *pNodeParams);

/**
 * Adds a fill node of the driver API.
 */
hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t *phGraphNode,
                                    hipGraph_t hGraph,
                                    const hipGraphNode_t *dependencies,
                                    size_t numDependencies,
                                    const struct HIP_MEMSET_NODE_PARAMS *memsetParams,
                                    hipCtx_t ctx);

/**
 * Changes a fill node in an executable graph as the driver API's record says.
 */
hipError_t hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec,
                                              hipGraphNode_t hNode,
                                              const struct HIP_MEMSET_NODE_PARAMS *memsetParams,
                                              hipCtx_t ctx);

/**
 * Adds a node that does nothing.
 */
hipError_t hipGraphAddEmptyNode(hipGraphNode_t *pGraphNode,
                                hipGraph_t graph,
                                const hipGraphNode_t *pDependencies,
                                size_t numDependencies);

/**
 * Adds a host node.
 */
hipError_t hipGraphAddHostNode(hipGraphNode_t *pGraphNode,
                               hipGraph_t graph,
                               const hipGraphNode_t *pDependencies,
                               size_t numDependencies,
                               const struct hipHostNodeParams *pNodeParams);

/**
 * Gives a host node's parameters.
 */
hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, struct hipHostNodeParams *pNodeParams);

/**
 * Changes a host node.
 */
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node,
                                     const struct hipHostNodeParams *pNodeParams);

/**
 * Changes a host node in an executable graph.
 */
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t hGraphExec,
                                         hipGraphNode_t node,
                                         const struct hipHostNodeParams *pNodeParams);

/**
 * Adds a node that runs a copy of another graph.
 */
hipError_t hipGraphAddChildGraphNode(hipGraphNode_t *pGraphNode,
                                     hipGraph_t graph,
                                     const hipGraphNode_t *pDependencies,
                                     size_t numDependencies,
                                     hipGraph_t childGraph);

/**
 * Gives the graph that a child graph node runs.
 */
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *pGraph);

/**
 * Changes what a child graph node of an executable graph runs; the shape must stay.
 */
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t hGraphExec,
                                               hipGraphNode_t node,
                                               hipGraph_t childGraph);

/**
 * Adds a node that records an event.
 */
hipError_t hipGraphAddEventRecordNode(hipGraphNode_t *pGraphNode,
                                      hipGraph_t graph,
                                      const hipGraphNode_t *pDependencies,
                                      size_t numDependencies,
                                      hipEvent_t event);

/**
 * Gives the event that a node records.
 */
hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t *event_out);

/**
 * Changes the event that a node records.
 */
hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event);

/**
 * Changes the event that a node of an executable graph records.
 */
hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t hGraphExec,
                                               hipGraphNode_t hNode,
                                               hipEvent_t event);

/**
 * Adds a node that waits for an event.
 */
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t *pGraphNode,
                                    hipGraph_t graph,
                                    const hipGraphNode_t *pDependencies,
                                    size_t numDependencies,
                                    hipEvent_t event);

/**
 * Gives the event that a node waits for.
 */
hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *event_out);

/**
 * Changes the event that a node waits for.
 */
hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event);

/**
 * Changes the event that a node of an executable graph waits for.
 */
hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t hGraphExec,
                                             hipGraphNode_t hNode,
                                             hipEvent_t event);

/**
 * Adds a node that allocates memory, and gives the address.
 */
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t *pGraphNode,
                                   hipGraph_t graph,
                                   const hipGraphNode_t *pDependencies,
                                   size_t numDependencies,
                                   struct hipMemAllocNodeParams *pNodeParams);

/**
 * Gives an allocation node's parameters.
 */
hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node,
                                         struct hipMemAllocNodeParams *pNodeParams);

/**
 * Adds a node that frees memory which a graph allocated.
 */
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t *pGraphNode,
                                  hipGraph_t graph,
                                  const hipGraphNode_t *pDependencies,
                                  size_t numDependencies,
                                  void *dev_ptr);

/**
 * Adds a node that frees memory which a graph allocated.
 */
hipError_t hipDrvGraphAddMemFreeNode(hipGraphNode_t *phGraphNode,
                                     hipGraph_t hGraph,
                                     const hipGraphNode_t *dependencies,
                                     size_t numDependencies,
                                     hipDeviceptr_t dptr);

/**
 * Gives the address that a free node frees.
 */
hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void *dev_ptr);

/**
 * Gives the bytes that graphs use or reserve on a device, now or at most.
 */
hipError_t hipDeviceGetGraphMemAttribute(int32_t device, uint32_t attr, void *value);

/**
 * Resets a high mark to 0.
 */
hipError_t hipDeviceSetGraphMemAttribute(int32_t device, uint32_t attr, void *value);

/**
 * Gives memory back that graphs keep without need: there is none, since memory goes with its last graph.
 */
hipError_t hipDeviceGraphMemTrim(int32_t device);

/**
 * Adds a node that runs a batch of operations on values in memory.
 */
hipError_t hipGraphAddBatchMemOpNode(hipGraphNode_t *phGraphNode,
                                     hipGraph_t hGraph,
                                     const hipGraphNode_t *dependencies,
                                     size_t numDependencies,
                                     const struct hipBatchMemOpNodeParams *nodeParams);

/**
 * Gives a batch node's operations: as many as the record's array has room for.
 */
hipError_t hipGraphBatchMemOpNodeGetParams(hipGraphNode_t hNode,
                                           struct hipBatchMemOpNodeParams *nodeParams_out);

/**
 * Changes a batch node.
 */
hipError_t hipGraphBatchMemOpNodeSetParams(hipGraphNode_t hNode,
                                           struct hipBatchMemOpNodeParams *nodeParams);

/**
 * Changes a batch node in an executable graph.
 */
hipError_t hipGraphExecBatchMemOpNodeSetParams(hipGraphExec_t hGraphExec,
                                               hipGraphNode_t hNode,
                                               const struct hipBatchMemOpNodeParams *nodeParams);

/**
 * Whether launches of an executable graph run a node.
 */
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec,
                                  hipGraphNode_t hNode,
                                  uint32_t *isEnabled);

/**
 * Leaves a kernel, copy or fill node out of an executable graph's launches, or takes it in again.
 */
hipError_t hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec,
                                  hipGraphNode_t hNode,
                                  uint32_t isEnabled);

/**
 * Adds a node of any type.
 */
hipError_t hipGraphAddNode(hipGraphNode_t *pGraphNode,
                           hipGraph_t graph,
                           const hipGraphNode_t *pDependencies,
                           size_t numDependencies,
                           struct hipGraphNodeParams *nodeParams);

/**
 * Changes a node of any type.
 */
hipError_t hipGraphNodeSetParams(hipGraphNode_t node, struct hipGraphNodeParams *nodeParams);

/**
 * Changes a node of any type in an executable graph.
 */
hipError_t hipGraphExecNodeSetParams(hipGraphExec_t graphExec,
                                     hipGraphNode_t node,
                                     struct hipGraphNodeParams *nodeParams);

/**
 * Creates an empty graph.
 */
hipError_t hipGraphCreate(hipGraph_t *pGraph, uint32_t flags);

/**
 * Ends a graph and its nodes. Executable graphs made from it live on.
 */
hipError_t hipGraphDestroy(hipGraph_t graph);

/**
 * Copies a graph with its nodes and edges.
 */
hipError_t hipGraphClone(hipGraph_t *pGraphClone, hipGraph_t originalGraph);

/**
 * Finds the copy of a node in a clone.
 */
hipError_t hipGraphNodeFindInClone(hipGraphNode_t *pNode,
                                   hipGraphNode_t originalNode,
                                   hipGraph_t clonedGraph);

/**
 * Gives a graph's nodes, or their number.
 */
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *numNodes);

/**
 * Gives a graph's nodes without dependencies, or their number.
 */
hipError_t hipGraphGetRootNodes(hipGraph_t graph,
                                hipGraphNode_t *pRootNodes,
                                size_t *pNumRootNodes);

/**
 * Gives a graph's edges, or their number.
 */
hipError_t hipGraphGetEdges(hipGraph_t graph,
                            hipGraphNode_t *from,
                            hipGraphNode_t *to,
                            size_t *numEdges);

/**
 * Gives the nodes that a node waits for, or their number.
 */
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node,
                                       hipGraphNode_t *pDependencies,
                                       size_t *pNumDependencies);

/**
 * Gives the nodes that wait for a node, or their number.
 */
hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node,
                                         hipGraphNode_t *pDependentNodes,
                                         size_t *pNumDependentNodes);

/**
 * Gives the type of a node, in the numbers of the presented version.
 */
hipError_t hipGraphNodeGetType(hipGraphNode_t node, uint32_t *pType);

/**
 * Takes a node out of its graph, with its edges.
 */
hipError_t hipGraphDestroyNode(hipGraphNode_t node);

/**
 * Adds edges.
 */
hipError_t hipGraphAddDependencies(hipGraph_t graph,
                                   const hipGraphNode_t *from,
                                   const hipGraphNode_t *to,
                                   size_t numDependencies);

/**
 * Takes edges away.
 */
hipError_t hipGraphRemoveDependencies(hipGraph_t graph,
                                      const hipGraphNode_t *from,
                                      const hipGraphNode_t *to,
                                      size_t numDependencies);

/**
 * Takes over the operations of a graph of the same shape.
 */
hipError_t hipGraphExecUpdate(hipGraphExec_t hGraphExec,
                              hipGraph_t hGraph,
                              hipGraphNode_t *hErrorNode_out,
                              uint32_t *updateResult_out);

/**
 * Makes a user object with a destructor.
 */
hipError_t hipUserObjectCreate(hipUserObject_t *object_out,
                               void *ptr,
                               hipHostFn_t destroy,
                               uint32_t initialRefcount,
                               uint32_t flags);

/**
 * Adds references to a user object.
 */
hipError_t hipUserObjectRetain(hipUserObject_t object, uint32_t count);

/**
 * Takes references from a user object; the last one ends it.
 */
hipError_t hipUserObjectRelease(hipUserObject_t object, uint32_t count);

/**
 * Makes a graph hold references to a user object: new ones, or with `hipGraphUserObjectMove` the caller's, as many as there are.
 */
hipError_t hipGraphRetainUserObject(hipGraph_t graph,
                                    hipUserObject_t object,
                                    uint32_t count,
                                    uint32_t flags);

/**
 * Makes a graph let go of references to a user object.
 */
hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, uint32_t count);

/**
 * Pins the program's own memory. Memory that is registered already, or that HIP allocated, is no error, as in AMD's runtime; the log names it.
 */
hipError_t hipHostRegister(void *hostPtr,
                           size_t sizeBytes,
                           uint32_t flags);

/**
 * Undoes `hipHostRegister`. Memory that HIP allocated stays what it is, and the log says so.
 */
hipError_t hipHostUnregister(void *hostPtr);

/**
 * Makes a handle with which another process can open device memory.
 */
hipError_t hipIpcGetMemHandle(struct hipIpcMemHandle_t *handle, void *devPtr);

/**
 * Opens device memory of another process.
 */
hipError_t hipIpcOpenMemHandle(void **devPtr, struct hipIpcMemHandle_t handle, uint32_t flags);

/**
 * Closes memory of another process.
 */
hipError_t hipIpcCloseMemHandle(void *devPtr);

/**
 * Makes a handle with which another process can open an event.
 */
hipError_t hipIpcGetEventHandle(struct hipIpcEventHandle_t *handle, hipEvent_t event);

/**
 * Opens an event of another process.
 */
hipError_t hipIpcOpenEventHandle(hipEvent_t *event, struct hipIpcEventHandle_t handle);

/**
 * Gives the thread's last error and resets it to success.
 */
hipError_t hipGetLastError(void);

/**
 * Gives the thread's last error and leaves it.
 */
hipError_t hipPeekAtLastError(void);

/**
 * Gives the status of the thread's last call, and resets it to success.
 */
hipError_t hipExtGetLastError(void);

/**
 * Gives an error's name; `hipErrorUnknown` for a code that does not exist.
 *
 * # Safety
 * None. The text is constant.
 */
const char *hipGetErrorName(uint32_t hip_error);

/**
 * Gives an error's text: its name for HIP 5, words for HIP 6 and later.
 *
 * # Safety
 * None. The text is constant.
 */
const char *hipGetErrorString(uint32_t hipError);

/**
 * Gives an error's name; `hipErrorInvalidValue` for a code that does not exist.
 */
hipError_t hipDrvGetErrorName(uint32_t hipError, const char **errorString);

/**
 * Gives an error's text; `hipErrorInvalidValue` for a code that does not exist.
 */
hipError_t hipDrvGetErrorString(uint32_t hipError, const char **errorString);

/**
 * Launches a registered kernel.
 */
hipError_t hipLaunchKernel(const void *function_address,
                           struct dim3 numBlocks,
                           struct dim3 dimBlocks,
                           void **args,
                           size_t sharedMemBytes,
                           hipStream_t stream);

/**
 * Launches a registered kernel, with events around it.
 */
hipError_t hipExtLaunchKernel(const void *function_address,
                              struct dim3 numBlocks,
                              struct dim3 dimBlocks,
                              void **args,
                              size_t sharedMemBytes,
                              hipStream_t stream,
                              hipEvent_t startEvent,
                              hipEvent_t stopEvent,
                              int32_t flags);

/**
 * Launches a registered kernel whose blocks all run at once, so that they may wait for each other.
 */
hipError_t hipLaunchCooperativeKernel(const void *f,
                                      struct dim3 gridDim,
                                      struct dim3 blockDimX,
                                      void **kernelParams,
                                      uint32_t sharedMemBytes,
                                      hipStream_t stream);

/**
 * Launches a kernel of a module; the grid is in blocks.
 */
hipError_t hipModuleLaunchKernel(hipFunction_t f,
                                 uint32_t gridDimX,
                                 uint32_t gridDimY,
                                 uint32_t gridDimZ,
                                 uint32_t blockDimX,
                                 uint32_t blockDimY,
                                 uint32_t blockDimZ,
                                 uint32_t sharedMemBytes,
                                 hipStream_t stream,
                                 void **kernelParams,
                                 void **extra);

/**
 * Launches a kernel of a module whose blocks all run at once.
 */
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f,
                                            uint32_t gridDimX,
                                            uint32_t gridDimY,
                                            uint32_t gridDimZ,
                                            uint32_t blockDimX,
                                            uint32_t blockDimY,
                                            uint32_t blockDimZ,
                                            uint32_t sharedMemBytes,
                                            hipStream_t stream,
                                            void **kernelParams);

/**
 * Launches a kernel of a module with events around it; the grid is in work-items.
 */
hipError_t hipExtModuleLaunchKernel(hipFunction_t f,
                                    uint32_t globalWorkSizeX,
                                    uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ,
                                    uint32_t localWorkSizeX,
                                    uint32_t localWorkSizeY,
                                    uint32_t localWorkSizeZ,
                                    size_t sharedMemBytes,
                                    hipStream_t hStream,
                                    void **kernelParams,
                                    void **extra,
                                    hipEvent_t startEvent,
                                    hipEvent_t stopEvent,
                                    uint32_t flags);

/**
 * The older name of `hipExtModuleLaunchKernel`, without flags.
 *
 * # Safety
 * As for `hipExtModuleLaunchKernel`.
 */
hipError_t hipHccModuleLaunchKernel(hipFunction_t f,
                                    uint32_t globalWorkSizeX,
                                    uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ,
                                    uint32_t localWorkSizeX,
                                    uint32_t localWorkSizeY,
                                    uint32_t localWorkSizeZ,
                                    size_t sharedMemBytes,
                                    hipStream_t hStream,
                                    void **kernelParams,
                                    void **extra,
                                    hipEvent_t startEvent,
                                    hipEvent_t stopEvent);

/**
 * Launches a registered kernel as a record says.
 */
hipError_t hipLaunchKernelExC(const struct hipLaunchConfig_t *config,
                              const void *fPtr,
                              void **args);

/**
 * Launches a kernel of a module as a record says.
 */
hipError_t hipDrvLaunchKernelEx(const struct HIP_LAUNCH_CONFIG *config,
                                hipFunction_t f,
                                void **params,
                                void **extra);

/**
 * Launches a kernel on each of several devices.
 */
hipError_t hipExtLaunchMultiKernelMultiDevice(struct hipLaunchParams *launchParamsList,
                                              int32_t numDevices,
                                              uint32_t flags);

/**
 * Launches kernels on several devices that can wait for each other.
 */
hipError_t hipLaunchCooperativeKernelMultiDevice(struct hipLaunchParams *launchParamsList,
                                                 int32_t numDevices,
                                                 uint32_t flags);

/**
 * Launches kernels of modules on several devices that can wait for each other.
 */
hipError_t hipModuleLaunchCooperativeKernelMultiDevice(struct hipFunctionLaunchParams *launchParamsList,
                                                       uint32_t numDevices,
                                                       uint32_t flags);

/**
 * Loads a library from memory. Options mean nothing here.
 */
hipError_t hipLibraryLoadData(hipLibrary_t *library,
                              const void *code,
                              uint32_t *jitOptions,
                              void **jitOptionsValues,
                              uint32_t numJitOptions,
                              uint32_t *libraryOptions,
                              void **libraryOptionValues,
                              uint32_t numLibraryOptions);

/**
 * Loads a library from a file.
 */
hipError_t hipLibraryLoadFromFile(hipLibrary_t *library,
                                  const char *fileName,
                                  uint32_t *jitOptions,
                                  void **jitOptionsValues,
                                  uint32_t numJitOptions,
                                  uint32_t *libraryOptions,
                                  void **libraryOptionValues,
                                  uint32_t numLibraryOptions);

/**
 * Unloads a library; its kernels end.
 */
hipError_t hipLibraryUnload(hipLibrary_t library);

/**
 * Gives a kernel of a library by name.
 */
hipError_t hipLibraryGetKernel(hipKernel_t *pKernel, hipLibrary_t library, const char *name);

/**
 * Gives the number of a library's kernels.
 */
hipError_t hipLibraryGetKernelCount(uint32_t *count, hipLibrary_t library);

/**
 * Gives a library's kernels, as many as there is room for.
 */
hipError_t hipLibraryEnumerateKernels(hipKernel_t *kernels,
                                      uint32_t numKernels,
                                      hipLibrary_t library);

/**
 * Gives the function of a kernel on the current device.
 */
hipError_t hipKernelGetFunction(hipFunction_t *pFunc, hipKernel_t kernel);

/**
 * Gives the library of a kernel.
 */
hipError_t hipKernelGetLibrary(hipLibrary_t *library, hipKernel_t kernel);

/**
 * Gives the name of a kernel; the text lives as long as its library.
 */
hipError_t hipKernelGetName(const char **name, hipKernel_t kernel);

/**
 * Gives where an argument of a kernel lies, and its size.
 */
hipError_t hipKernelGetParamInfo(hipKernel_t kernel,
                                 size_t paramIndex,
                                 size_t *paramOffset,
                                 size_t *paramSize);

/**
 * Gives an attribute of a kernel on a device.
 */
hipError_t hipKernelGetAttribute(int32_t *pi, uint32_t attrib, hipKernel_t kernel, int32_t dev);

/**
 * Sets an attribute of a kernel on a device: those that exist are limits that the device's allow already.
 */
hipError_t hipKernelSetAttribute(uint32_t attrib,
                                 int32_t value,
                                 hipKernel_t kernel,
                                 int32_t dev);

/**
 * Creates a link state.
 */
hipError_t hipLinkCreate(uint32_t numOptions,
                         uint32_t *options,
                         void **optionValues,
                         hipLinkState_t *stateOut);

/**
 * Adds bitcode from memory.
 */
hipError_t hipLinkAddData(hipLinkState_t state,
                          uint32_t type,
                          void *data,
                          size_t size,
                          const char *name,
                          uint32_t numOptions,
                          uint32_t *options,
                          void **optionValues);

/**
 * Adds bitcode from a file.
 */
hipError_t hipLinkAddFile(hipLinkState_t state,
                          uint32_t type,
                          const char *path,
                          uint32_t numOptions,
                          uint32_t *options,
                          void **optionValues);

/**
 * Links; the code object lives as long as the link state.
 */
hipError_t hipLinkComplete(hipLinkState_t state, void **hipBinOut, size_t *sizeOut);

/**
 * Ends a link state.
 */
hipError_t hipLinkDestroy(hipLinkState_t state);

/**
 * Moves managed memory to a device ahead of its use: a marker in the stream, as there is one copy.
 */
hipError_t hipMemPrefetchAsync(const void *dev_ptr,
                               size_t count,
                               int32_t device,
                               hipStream_t stream);

/**
 * Moves managed memory to a place ahead of its use.
 */
hipError_t hipMemPrefetchAsync_v2(const void *dev_ptr,
                                  size_t count,
                                  struct hipMemLocation location,
                                  uint32_t flags,
                                  hipStream_t stream);

/**
 * Says how managed memory will be used, and where.
 */
hipError_t hipMemAdvise_v2(const void *dev_ptr,
                           size_t count,
                           hipMemoryAdvise advice,
                           struct hipMemLocation location);

/**
 * Moves several ranges of managed memory ahead of their use: each range to the place whose index list starts last at or before it.
 */
hipError_t hipMemPrefetchBatchAsync(void **dev_ptrs,
                                    size_t *sizes,
                                    size_t count,
                                    struct hipMemLocation *prefetch_locs,
                                    size_t *prefetch_loc_idxs,
                                    size_t num_prefetch_locs,
                                    uint64_t flags,
                                    hipStream_t stream);

/**
 * Says how managed memory will be used.
 */
hipError_t hipMemAdvise(const void *dev_ptr, size_t count, hipMemoryAdvise advice, int32_t device);

/**
 * Tells one thing about managed memory.
 */
hipError_t hipMemRangeGetAttribute(void *data,
                                   size_t data_size,
                                   hipMemRangeAttribute attribute,
                                   const void *dev_ptr,
                                   size_t count);

/**
 * Tells several things about managed memory.
 */
hipError_t hipMemRangeGetAttributes(void **data,
                                    size_t *data_sizes,
                                    hipMemRangeAttribute *attributes,
                                    size_t num_attributes,
                                    const void *dev_ptr,
                                    size_t count);

/**
 * Ties managed memory to a stream. There is one copy that all may use at any time, so that a valid call changes nothing.
 */
hipError_t hipStreamAttachMemAsync(hipStream_t stream,
                                   void *dev_ptr,
                                   size_t length,
                                   uint32_t flags);

/**
 * Allocates device memory.
 */
hipError_t hipMalloc(void **ptr, size_t size);

/**
 * Allocates device memory: fine-grained, or for stream value operations.
 */
hipError_t hipExtMallocWithFlags(void **ptr, size_t sizeBytes, uint32_t flags);

/**
 * Allocates pinned host memory.
 */
hipError_t hipHostMalloc(void **ptr, size_t size, uint32_t flags);

/**
 * Allocates pinned host memory (as `hipHostMalloc`).
 */
hipError_t hipExtHostAlloc(void **ptr, size_t sizeBytes, uint32_t flags);

/**
 * Allocates pinned host memory, as `hipHostMalloc`, which ignores flags that it does not know; this one refuses them.
 */
hipError_t hipHostAlloc(void **ptr,
                        size_t size,
                        uint32_t flags);

/**
 * Allocates pinned host memory.
 */
hipError_t hipMallocHost(void **ptr, size_t size);

/**
 * Allocates pinned host memory.
 */
hipError_t hipMemAllocHost(void **ptr, size_t size);

/**
 * Frees device or host memory after the device's work has ended. Null is no error, and as in AMD's runtime an address inside an allocation
 * frees all of it, which the log names as a mistake.
 */
hipError_t hipFree(void *ptr);

/**
 * Frees pinned host memory after the device's work has ended. As in AMD's runtime it frees what `hipFree` does, too; the log names that.
 */
hipError_t hipHostFree(void *ptr);

/**
 * Frees pinned host memory after the device's work has ended (as `hipHostFree`).
 */
hipError_t hipFreeHost(void *ptr);

/**
 * Gives the device address of pinned host memory.
 */
hipError_t hipHostGetDevicePointer(void **devPtr, void *hstPtr, uint32_t flags);

/**
 * Gives the flags that pinned host memory was allocated with.
 */
hipError_t hipHostGetFlags(uint32_t *flagsPtr, void *hostPtr);

/**
 * Allocates managed memory: one address for the host and all devices.
 */
hipError_t hipMallocManaged(void **dev_ptr, size_t size, uint32_t flags);

/**
 * Gives free and total memory of the current device, wherever there is a place for it; `HIP_HIDDEN_FREE_MEM` says how much does not count as
 * free.
 */
hipError_t hipMemGetInfo(size_t *free,
                         size_t *total);

/**
 * Gives the size of the allocation that starts at a pointer.
 */
hipError_t hipMemPtrGetInfo(void *ptr, size_t *size);

/**
 * Gives start and size of the allocation that holds an address.
 */
hipError_t hipMemGetAddressRange(hipDeviceptr_t *pbase, size_t *psize, hipDeviceptr_t dptr);

/**
 * Creates a mipmapped array.
 */
hipError_t hipMallocMipmappedArray(hipMipmappedArray_t *mipmappedArray,
                                   const struct hipChannelFormatDesc *desc,
                                   struct hipExtent extent,
                                   uint32_t numLevels,
                                   uint32_t flags);

/**
 * Creates a mipmapped array (driver API).
 */
hipError_t hipMipmappedArrayCreate(hipMipmappedArray_t *pHandle,
                                   struct HIP_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                   uint32_t numMipmapLevels);

/**
 * Frees a mipmapped array and its levels.
 */
hipError_t hipFreeMipmappedArray(hipMipmappedArray_t mipmappedArray);

/**
 * Frees a mipmapped array and its levels (driver API).
 */
hipError_t hipMipmappedArrayDestroy(hipMipmappedArray_t hMipmappedArray);

/**
 * Gives a level of a mipmapped array, as an array.
 */
hipError_t hipGetMipmappedArrayLevel(hipArray_t *levelArray,
                                     hipMipmappedArray_t mipmappedArray,
                                     uint32_t level);

/**
 * Gives a level of a mipmapped array, as an array (driver API).
 */
hipError_t hipMipmappedArrayGetLevel(hipArray_t *pLevelArray,
                                     hipMipmappedArray_t hMipMappedArray,
                                     uint32_t level);

/**
 * Gives the address of a HIP function by name.
 */
hipError_t hipGetProcAddress(const char *symbol,
                             void **pfn,
                             int32_t hipVersion,
                             uint64_t flags,
                             hipDriverProcAddressQueryResult *symbolStatus);

/**
 * Gives the address of a HIP function by name; with the thread's own stream as the default.
 */
hipError_t hipGetProcAddress_spt(const char *symbol,
                                 void **pfn,
                                 int32_t hipVersion,
                                 uint64_t flags,
                                 hipDriverProcAddressQueryResult *symbolStatus);

/**
 * Gives the address of a HIP function by name, in the presented version.
 */
hipError_t hipGetDriverEntryPoint(const char *symbol,
                                  void **funcPtr,
                                  uint64_t flags,
                                  uint32_t *driverStatus);

/**
 * Gives the address of a HIP function by name, with the thread's own stream as the default.
 */
hipError_t hipGetDriverEntryPoint_spt(const char *symbol,
                                      void **funcPtr,
                                      uint64_t flags,
                                      uint32_t *driverStatus);

/**
 * The calling thread's stream priority class is not kept: gives the stream's priority under its attribute's name.
 */
hipError_t hipStreamGetAttribute(hipStream_t stream,
                                 uint32_t attr,
                                 void *value_out);

/**
 * Loads a module from a file: a bundle or a code object.
 */
hipError_t hipModuleLoad(hipModule_t *module, const char *fname);

/**
 * Loads a module from memory: a bundle or a code object.
 */
hipError_t hipModuleLoadData(hipModule_t *module, const void *image);

/**
 * Loads a module from memory; options of a just-in-time compiler mean nothing to machine code.
 */
hipError_t hipModuleLoadDataEx(hipModule_t *module,
                               const void *image,
                               uint32_t numOptions,
                               uint32_t *options,
                               void **optionValues);

/**
 * Loads a module from a fat binary in memory.
 */
hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *fatbin);

/**
 * Unloads a module; its function handles end. Work that still runs its kernels keeps the code.
 */
hipError_t hipModuleUnload(hipModule_t module);

/**
 * Finds a kernel of a module by name.
 */
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *kname);

/**
 * Counts the kernels of a module.
 */
hipError_t hipModuleGetFunctionCount(uint32_t *count, hipModule_t mod);

/**
 * Finds a variable of a module by name; null places are passed over.
 */
hipError_t hipModuleGetGlobal(hipDeviceptr_t *dptr,
                              size_t *bytes,
                              hipModule_t hmod,
                              const char *name);

/**
 * Gives a kernel's name, or null.
 *
 * # Safety
 * The handle is checked. The string lives until the module is unloaded.
 */
const char *hipKernelNameRef(hipFunction_t f);

/**
 * Blocks of a registered kernel that a compute unit holds.
 */
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int32_t *numBlocks,
                                                        const void *f,
                                                        int32_t blockSize,
                                                        size_t dynSharedMemPerBlk);

/**
 * Blocks of a registered kernel that a compute unit holds; the flags change nothing.
 */
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int32_t *numBlocks,
                                                                 const void *f,
                                                                 int32_t blockSize,
                                                                 size_t dynSharedMemPerBlk,
                                                                 uint32_t flags);

/**
 * The block size that fills the device best, and its grid.
 */
hipError_t hipOccupancyMaxPotentialBlockSize(int32_t *gridSize,
                                             int32_t *blockSize,
                                             const void *f,
                                             size_t dynSharedMemPerBlk,
                                             int32_t blockSizeLimit);

/**
 * Blocks of a module's kernel that a compute unit holds.
 */
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int32_t *numBlocks,
                                                              hipFunction_t f,
                                                              int32_t blockSize,
                                                              size_t dynSharedMemPerBlk);

/**
 * Blocks of a module's kernel that a compute unit holds; the flags change nothing.
 */
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int32_t *numBlocks,
                                                                       hipFunction_t f,
                                                                       int32_t blockSize,
                                                                       size_t dynSharedMemPerBlk,
                                                                       uint32_t flags);

/**
 * The block size of a module's kernel that fills the device best, and its grid.
 */
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int32_t *gridSize,
                                                   int32_t *blockSize,
                                                   hipFunction_t f,
                                                   size_t dynSharedMemPerBlk,
                                                   int32_t blockSizeLimit);

/**
 * As `hipModuleOccupancyMaxPotentialBlockSize`; the flags change nothing.
 */
hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int32_t *gridSize,
                                                            int32_t *blockSize,
                                                            hipFunction_t f,
                                                            size_t dynSharedMemPerBlk,
                                                            int32_t blockSizeLimit,
                                                            uint32_t flags);

/**
 * Bytes of dynamic LDS that blocks of a size may have so that a number of them fits a compute unit.
 */
hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize,
                                                    const void *f,
                                                    int32_t numBlocks,
                                                    int32_t blockSize);

/**
 * Whether a device can access another's memory. A device is no peer of itself.
 */
hipError_t hipDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId, int32_t peerDeviceId);

/**
 * Lets the current device access another's memory.
 */
hipError_t hipDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);

/**
 * Ends the current device's access to another's memory.
 */
hipError_t hipDeviceDisablePeerAccess(int32_t peerDeviceId);

/**
 * Tells about the link between two devices.
 */
hipError_t hipDeviceGetP2PAttribute(int32_t *value,
                                    hipDeviceP2PAttr attr,
                                    int32_t srcDevice,
                                    int32_t dstDevice);

/**
 * Gives the kind of the link between two devices (2: PCIe) and its hops.
 */
hipError_t hipExtGetLinkTypeAndHopCount(int32_t device1,
                                        int32_t device2,
                                        uint32_t *linktype,
                                        uint32_t *hopcount);

/**
 * Copies between devices' memories; where the memories are follows from the pointers. The copy is in the null stream of the current device. With
 * HIP 5 (5.2.3) the host waits for it; later, what comes in the null stream of the destination's device does (`hip_peer.cpp` of AMD's runtime).
 */
hipError_t hipMemcpyPeer(void *dst,
                         int32_t dstDeviceId,
                         const void *src,
                         int32_t srcDeviceId,
                         size_t sizeBytes);

/**
 * Copies between devices' memories in stream order.
 */
hipError_t hipMemcpyPeerAsync(void *dst,
                              int32_t dstDeviceId,
                              const void *src,
                              int32_t srcDevice,
                              size_t sizeBytes,
                              hipStream_t stream);

/**
 * `hipMemcpy` with the thread's own stream as the default.
 */
hipError_t hipMemcpy_spt(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind);

/**
 * `hipMemcpyAsync` with the thread's own stream as the default.
 */
hipError_t hipMemcpyAsync_spt(void *dst,
                              const void *src,
                              size_t sizeBytes,
                              hipMemcpyKind kind,
                              hipStream_t stream);

/**
 * `hipMemcpyToSymbol` with the thread's own stream as the default.
 */
hipError_t hipMemcpyToSymbol_spt(const void *symbol,
                                 const void *src,
                                 size_t sizeBytes,
                                 size_t offset,
                                 hipMemcpyKind kind);

/**
 * `hipMemcpyToSymbolAsync` with the thread's own stream as the default.
 */
hipError_t hipMemcpyToSymbolAsync_spt(const void *symbol,
                                      const void *src,
                                      size_t sizeBytes,
                                      size_t offset,
                                      hipMemcpyKind kind,
                                      hipStream_t stream);

/**
 * `hipMemcpyFromSymbol` with the thread's own stream as the default.
 */
hipError_t hipMemcpyFromSymbol_spt(void *dst,
                                   const void *symbol,
                                   size_t sizeBytes,
                                   size_t offset,
                                   hipMemcpyKind kind);

/**
 * `hipMemcpyFromSymbolAsync` with the thread's own stream as the default.
 */
hipError_t hipMemcpyFromSymbolAsync_spt(void *dst,
                                        const void *symbol,
                                        size_t sizeBytes,
                                        size_t offset,
                                        hipMemcpyKind kind,
                                        hipStream_t stream);

/**
 * `hipMemcpy2D` with the thread's own stream as the default.
 */
hipError_t hipMemcpy2D_spt(void *dst,
                           size_t dpitch,
                           const void *src,
                           size_t spitch,
                           size_t width,
                           size_t height,
                           hipMemcpyKind kind);

/**
 * `hipMemcpy2DAsync` with the thread's own stream as the default.
 */
hipError_t hipMemcpy2DAsync_spt(void *dst,
                                size_t dpitch,
                                const void *src,
                                size_t spitch,
                                size_t width,
                                size_t height,
                                hipMemcpyKind kind,
                                hipStream_t stream);

/**
 * `hipMemcpy2DToArray` with the thread's own stream as the default.
 */
hipError_t hipMemcpy2DToArray_spt(hipArray_t dst,
                                  size_t wOffset,
                                  size_t hOffset,
                                  const void *src,
                                  size_t spitch,
                                  size_t width,
                                  size_t height,
                                  hipMemcpyKind kind);

/**
 * `hipMemcpy2DToArrayAsync` with the thread's own stream as the default.
 */
hipError_t hipMemcpy2DToArrayAsync_spt(hipArray_t dst,
                                       size_t wOffset,
                                       size_t hOffset,
                                       const void *src,
                                       size_t spitch,
                                       size_t width,
                                       size_t height,
                                       hipMemcpyKind kind,
                                       hipStream_t stream);

/**
 * `hipMemcpy2DFromArray` with the thread's own stream as the default.
 */
hipError_t hipMemcpy2DFromArray_spt(void *dst,
                                    size_t dpitch,
                                    hipArray_t src,
                                    size_t wOffset,
                                    size_t hOffset,
                                    size_t width,
                                    size_t height,
                                    hipMemcpyKind kind);

/**
 * `hipMemcpy2DFromArrayAsync` with the thread's own stream as the default.
 */
hipError_t hipMemcpy2DFromArrayAsync_spt(void *dst,
                                         size_t dpitch,
                                         hipArray_t src,
                                         size_t wOffset,
                                         size_t hOffset,
                                         size_t width,
                                         size_t height,
                                         hipMemcpyKind kind,
                                         hipStream_t stream);

/**
 * `hipMemcpyFromArray` with the thread's own stream as the default.
 */
hipError_t hipMemcpyFromArray_spt(void *dst,
                                  hipArray_t srcArray,
                                  size_t wOffset,
                                  size_t hOffset,
                                  size_t count,
                                  hipMemcpyKind kind);

/**
 * `hipMemcpy3D` with the thread's own stream as the default.
 */
hipError_t hipMemcpy3D_spt(const struct hipMemcpy3DParms *p);

/**
 * `hipMemcpy3DAsync` with the thread's own stream as the default.
 */
hipError_t hipMemcpy3DAsync_spt(const struct hipMemcpy3DParms *p, hipStream_t stream);

/**
 * `hipMemset` with the thread's own stream as the default.
 */
hipError_t hipMemset_spt(void *dst, int32_t value, size_t sizeBytes);

/**
 * `hipMemsetAsync` with the thread's own stream as the default.
 */
hipError_t hipMemsetAsync_spt(void *dst, int32_t value, size_t sizeBytes, hipStream_t stream);

/**
 * `hipMemset2D` with the thread's own stream as the default.
 */
hipError_t hipMemset2D_spt(void *dst, size_t pitch, int32_t value, size_t width, size_t height);

/**
 * `hipMemset2DAsync` with the thread's own stream as the default.
 */
hipError_t hipMemset2DAsync_spt(void *dst,
                                size_t pitch,
                                int32_t value,
                                size_t width,
                                size_t height,
                                hipStream_t stream);

/**
 * `hipMemset3D` with the thread's own stream as the default.
 */
hipError_t hipMemset3D_spt(struct hipPitchedPtr pitchedDevPtr,
                           int32_t value,
                           struct hipExtent extent);

/**
 * `hipMemset3DAsync` with the thread's own stream as the default.
 */
hipError_t hipMemset3DAsync_spt(struct hipPitchedPtr pitchedDevPtr,
                                int32_t value,
                                struct hipExtent extent,
                                hipStream_t stream);

/**
 * `hipStreamQuery` with the thread's own stream as the default.
 */
hipError_t hipStreamQuery_spt(hipStream_t stream);

/**
 * `hipStreamSynchronize` with the thread's own stream as the default.
 */
hipError_t hipStreamSynchronize_spt(hipStream_t stream);

/**
 * `hipStreamGetFlags` with the thread's own stream as the default.
 */
hipError_t hipStreamGetFlags_spt(hipStream_t stream, uint32_t *flags);

/**
 * `hipStreamGetPriority` with the thread's own stream as the default.
 */
hipError_t hipStreamGetPriority_spt(hipStream_t stream, int32_t *priority);

/**
 * `hipStreamWaitEvent` with the thread's own stream as the default.
 */
hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, uint32_t flags);

/**
 * `hipStreamAddCallback` with the thread's own stream as the default.
 */
hipError_t hipStreamAddCallback_spt(hipStream_t stream,
                                    hipStreamCallback_t callback,
                                    void *userData,
                                    uint32_t flags);

/**
 * `hipLaunchHostFunc` with the thread's own stream as the default.
 */
hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t fn, void *userData);

/**
 * `hipEventRecord` with the thread's own stream as the default.
 */
hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream);

/**
 * `hipLaunchKernel` with the thread's own stream as the default.
 */
hipError_t hipLaunchKernel_spt(const void *function_address,
                               struct dim3 numBlocks,
                               struct dim3 dimBlocks,
                               void **args,
                               size_t sharedMemBytes,
                               hipStream_t stream);

/**
 * `hipLaunchCooperativeKernel` with the thread's own stream as the default.
 */
hipError_t hipLaunchCooperativeKernel_spt(const void *f,
                                          struct dim3 gridDim,
                                          struct dim3 blockDim,
                                          void **kernelParams,
                                          uint32_t sharedMemBytes,
                                          hipStream_t hStream);

/**
 * Tells what HIP knows of a pointer. Since HIP 6 memory that HIP does not know is `hipMemoryTypeUnregistered`.
 */
hipError_t hipPointerGetAttributes(struct hipPointerAttribute_t *attributes,
                                   const void *ptr);

/**
 * Sets an attribute of an allocation: whether synchronous copies inside the device wait for their end.
 */
hipError_t hipPointerSetAttribute(const void *value,
                                  hipPointer_attribute attribute,
                                  hipDeviceptr_t ptr);

/**
 * Tells one thing that HIP knows of a pointer. Since HIP 7 memory that HIP does not know is of the type `hipMemoryTypeUnregistered`.
 */
hipError_t hipPointerGetAttribute(void *data,
                                  hipPointer_attribute attribute,
                                  hipDeviceptr_t ptr);

/**
 * Tells several things that HIP knows of a pointer; an attribute that a pointer does not have is null, the device -2.
 */
hipError_t hipDrvPointerGetAttributes(uint32_t numAttributes,
                                      hipPointer_attribute *attributes,
                                      void **data,
                                      hipDeviceptr_t ptr);

/**
 * Allocates from the pool of the stream's device, in stream order.
 */
hipError_t hipMallocAsync(void **dev_ptr, size_t size, hipStream_t stream);

/**
 * Allocates from a pool, in stream order.
 */
hipError_t hipMallocFromPoolAsync(void **dev_ptr,
                                  size_t size,
                                  hipMemPool_t mem_pool,
                                  hipStream_t stream);

/**
 * Frees in stream order: the memory may be used until the stream gets there. Null is an error before HIP 7.
 */
hipError_t hipFreeAsync(void *dev_ptr,
                        hipStream_t stream);

/**
 * Gives a device's default pool.
 */
hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *mem_pool, int32_t device);

/**
 * Gives the pool that `hipMallocAsync` uses on a device.
 */
hipError_t hipDeviceGetMemPool(hipMemPool_t *mem_pool, int32_t device);

/**
 * Sets the pool that `hipMallocAsync` uses on a device.
 */
hipError_t hipDeviceSetMemPool(int32_t device, hipMemPool_t mem_pool);

/**
 * Creates a pool of pinned memory on a device.
 */
hipError_t hipMemPoolCreate(hipMemPool_t *mem_pool, const struct hipMemPoolProps *pool_props);

/**
 * Ends a pool that `hipMemPoolCreate` made.
 */
hipError_t hipMemPoolDestroy(hipMemPool_t mem_pool);

/**
 * Gives ended blocks back until the pool holds no more than that many bytes.
 */
hipError_t hipMemPoolTrimTo(hipMemPool_t mem_pool, size_t min_bytes_to_hold);

/**
 * Sets an attribute of a pool; the value is an `int` for the reuse attributes, else 64 bits.
 */
hipError_t hipMemPoolSetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void *value);

/**
 * Reads an attribute of a pool.
 */
hipError_t hipMemPoolGetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void *value);

/**
 * Lets devices access a pool's memory. Taking access away again is not supported, and the owner always keeps its own.
 */
hipError_t hipMemPoolSetAccess(hipMemPool_t mem_pool,
                               const struct hipMemAccessDesc *desc_list,
                               size_t count);

/**
 * Tells what access a device has to a pool's memory.
 */
hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags,
                               hipMemPool_t mem_pool,
                               struct hipMemLocation *location);

/**
 * Gives a file descriptor that another process can open a pool by.
 */
hipError_t hipMemPoolExportToShareableHandle(void *shared_handle,
                                             hipMemPool_t mem_pool,
                                             hipMemAllocationHandleType handle_type,
                                             uint32_t flags);

/**
 * Opens a pool of another process by its file descriptor.
 */
hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t *mem_pool,
                                               void *shared_handle,
                                               hipMemAllocationHandleType handle_type,
                                               uint32_t flags);

/**
 * Makes a record with which another process can open a block of a pool.
 */
hipError_t hipMemPoolExportPointer(struct hipMemPoolPtrExportData *export_data, void *dev_ptr);

/**
 * Opens a block of a pool of another process; `hipFree` and `hipFreeAsync` close it.
 */
hipError_t hipMemPoolImportPointer(void **dev_ptr,
                                   hipMemPool_t mem_pool,
                                   struct hipMemPoolPtrExportData *export_data);

/**
 * Gives the default pool of a place.
 */
hipError_t hipMemGetDefaultMemPool(hipMemPool_t *memPool,
                                   struct hipMemLocation *location,
                                   hipMemAllocationType type);

/**
 * Gives the pool that `hipMallocAsync` uses in a place.
 */
hipError_t hipMemGetMemPool(hipMemPool_t *memPool,
                            struct hipMemLocation *location,
                            hipMemAllocationType type);

/**
 * Sets the pool that `hipMallocAsync` uses in a place.
 */
hipError_t hipMemSetMemPool(struct hipMemLocation *location,
                            hipMemAllocationType type,
                            hipMemPool_t pool);

/**
 * Registers a function that is called before and after a call.
 *
 * # Safety
 * `fun` must be null or an `activity_rtapi_callback_t`.
 */
hipError_t hipRegisterApiCallback(uint32_t id, void *fun, void *arg);

/**
 * Takes it back.
 */
hipError_t hipRemoveApiCallback(uint32_t id);

/**
 * Registers a function that makes the data of a call and hears of its end.
 *
 * # Safety
 * `fun` must be null or an `activity_sync_callback_t`.
 */
hipError_t hipRegisterActivityCallback(uint32_t id, void *fun, void *arg);

/**
 * Takes it back.
 */
hipError_t hipRemoveActivityCallback(uint32_t id);

/**
 * Registers the functions for commands: one is told a command's number by the thread that enqueues it, the other gets its record.
 *
 * # Safety
 * They must be null or an `activity_id_callback_t` and an `activity_async_callback_t`.
 */
void hipInitActivityCallback(void *id_callback,
                             void *op_callback,
                             void *arg);

/**
 * Switches records of kernels (0), copies and fills (1) or markers (2). False for another number.
 *
 * # Safety
 * None.
 */
bool hipEnableActivityCallback(uint32_t op, bool enable);

/**
 * Registers the function that is told of calls and commands; null ends it.
 *
 * # Safety
 * `function` must be null or `int (*)(activity_domain_t, uint32_t, void *)`.
 */
void hipRegisterTracerCallback(void *function);

/**
 * Name of a call by its number in `hip_prof_str.h`; `unknown` for other numbers.
 *
 * # Safety
 * None. The text is constant.
 */
const char *hipApiName(uint32_t id);

/**
 * Name of a command by its kind in an activity record.
 *
 * # Safety
 * None. The text is constant.
 */
const char *hipGetCmdName(uint32_t op);

/**
 * Creates a stream.
 */
hipError_t hipStreamCreate(hipStream_t *stream);

/**
 * Creates a stream with flags.
 */
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, uint32_t flags);

/**
 * Creates a stream with flags and a priority, which is clamped to -1 (high) … 1 (low).
 */
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, uint32_t flags, int32_t priority);

/**
 * Creates a stream whose kernels may use the compute units of a mask, 32 to a word.
 */
hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream,
                                        uint32_t cuMaskSize,
                                        const uint32_t *cuMask);

/**
 * Reads a stream's compute unit mask; all units for a stream without one.
 */
hipError_t hipExtStreamGetCUMask(hipStream_t stream, uint32_t cuMaskSize, uint32_t *cuMask);

/**
 * Gives the range of stream priorities: 1 (least) to -1 (greatest).
 */
hipError_t hipDeviceGetStreamPriorityRange(int32_t *leastPriority, int32_t *greatestPriority);

/**
 * Waits for a stream's work and ends it.
 */
hipError_t hipStreamDestroy(hipStream_t stream);

/**
 * Whether a stream's work has ended: success or `hipErrorNotReady`.
 */
hipError_t hipStreamQuery(hipStream_t stream);

/**
 * Waits for a stream's work.
 */
hipError_t hipStreamSynchronize(hipStream_t stream);

/**
 * Makes later work of a stream wait for an event.
 */
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, uint32_t flags);

/**
 * Reads a stream's flags.
 */
hipError_t hipStreamGetFlags(hipStream_t stream, uint32_t *flags);

/**
 * Reads a stream's priority.
 */
hipError_t hipStreamGetPriority(hipStream_t stream, int32_t *priority);

/**
 * Gives the device of a stream; the current one for the null stream.
 */
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device);

/**
 * Gives a number that is unique to a stream.
 */
hipError_t hipStreamGetId(hipStream_t stream, uint64_t *streamId);

/**
 * Gives the device of a stream, or -1.
 *
 * # Safety
 * None: the handle is checked.
 */
int32_t hipGetStreamDeviceId(hipStream_t stream);

/**
 * Calls a host function when the stream's earlier work has ended; later work waits for its return.
 */
hipError_t hipStreamAddCallback(hipStream_t stream,
                                hipStreamCallback_t callback,
                                void *userData,
                                uint32_t flags);

/**
 * Calls a host function when the stream's earlier work has ended without failure; later work waits for its return.
 */
hipError_t hipLaunchHostFunc(hipStream_t stream,
                             hipHostFn_t fn,
                             void *userData);

/**
 * Runs a batch of operations on values in memory, in stream order.
 */
hipError_t hipStreamBatchMemOp(hipStream_t stream,
                               uint32_t count,
                               struct hipStreamBatchMemOpParams *paramArray,
                               uint32_t flags);

/**
 * Makes a stream wait until 32 bits in memory fulfil a condition.
 */
hipError_t hipStreamWaitValue32(hipStream_t stream,
                                void *ptr,
                                uint32_t value,
                                uint32_t flags,
                                uint32_t mask);

/**
 * Makes a stream wait until 64 bits in memory fulfil a condition.
 */
hipError_t hipStreamWaitValue64(hipStream_t stream,
                                void *ptr,
                                uint64_t value,
                                uint32_t flags,
                                uint64_t mask);

/**
 * Writes 32 bits to memory in stream order.
 */
hipError_t hipStreamWriteValue32(hipStream_t stream, void *ptr, uint32_t value, uint32_t flags);

/**
 * Writes 64 bits to memory in stream order.
 */
hipError_t hipStreamWriteValue64(hipStream_t stream, void *ptr, uint64_t value, uint32_t flags);

/**
 * Creates a surface object.
 */
hipError_t hipCreateSurfaceObject(hipSurfaceObject_t *pSurfObject,
                                  const struct hipResourceDesc *pResDesc);

/**
 * Destroys a surface object; null is none.
 */
hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surfaceObject);

/**
 * Gives a variable's address on the current device.
 */
hipError_t hipGetSymbolAddress(void **devPtr, const void *symbol);

/**
 * Gives a variable's size.
 */
hipError_t hipGetSymbolSize(size_t *size, const void *symbol);

/**
 * Copies to a variable.
 */
hipError_t hipMemcpyToSymbol(const void *symbol,
                             const void *src,
                             size_t sizeBytes,
                             size_t offset,
                             hipMemcpyKind kind);

/**
 * Copies to a variable in stream order.
 */
hipError_t hipMemcpyToSymbolAsync(const void *symbol,
                                  const void *src,
                                  size_t sizeBytes,
                                  size_t offset,
                                  hipMemcpyKind kind,
                                  hipStream_t stream);

/**
 * Copies from a variable.
 */
hipError_t hipMemcpyFromSymbol(void *dst,
                               const void *symbol,
                               size_t sizeBytes,
                               size_t offset,
                               hipMemcpyKind kind);

/**
 * Copies from a variable in stream order.
 */
hipError_t hipMemcpyFromSymbolAsync(void *dst,
                                    const void *symbol,
                                    size_t sizeBytes,
                                    size_t offset,
                                    hipMemcpyKind kind,
                                    hipStream_t stream);

/**
 * Creates a texture object.
 */
hipError_t hipCreateTextureObject(hipTextureObject_t *pTexObject,
                                  const struct hipResourceDesc *pResDesc,
                                  const struct hipTextureDesc *pTexDesc,
                                  const struct hipResourceViewDesc *pResViewDesc);

/**
 * Destroys a texture object; null is none.
 */
hipError_t hipDestroyTextureObject(hipTextureObject_t textureObject);

/**
 * Tells a texture object's resource.
 */
hipError_t hipGetTextureObjectResourceDesc(struct hipResourceDesc *pResDesc,
                                           hipTextureObject_t textureObject);

/**
 * Tells a texture object's view of its resource; all zero if there is none.
 */
hipError_t hipGetTextureObjectResourceViewDesc(struct hipResourceViewDesc *pResViewDesc,
                                               hipTextureObject_t textureObject);

/**
 * Tells how a texture object is read.
 */
hipError_t hipGetTextureObjectTextureDesc(struct hipTextureDesc *pTexDesc,
                                          hipTextureObject_t textureObject);

/**
 * Tells how many elements a linear texture can have.
 */
hipError_t hipDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                               const struct hipChannelFormatDesc *fmtDesc,
                                               int32_t device);

/**
 * Creates a texture object (driver API).
 */
hipError_t hipTexObjectCreate(hipTextureObject_t *pTexObject,
                              const struct HIP_RESOURCE_DESC *pResDesc,
                              const struct HIP_TEXTURE_DESC *pTexDesc,
                              const struct HIP_RESOURCE_VIEW_DESC *pResViewDesc);

/**
 * Destroys a texture object (driver API); null is none.
 */
hipError_t hipTexObjectDestroy(hipTextureObject_t texObject);

/**
 * Tells a texture object's resource (driver API).
 */
hipError_t hipTexObjectGetResourceDesc(struct HIP_RESOURCE_DESC *pResDesc,
                                       hipTextureObject_t texObject);

/**
 * Tells a texture object's view of its resource (driver API).
 */
hipError_t hipTexObjectGetResourceViewDesc(struct HIP_RESOURCE_VIEW_DESC *pResViewDesc,
                                           hipTextureObject_t texObject);

/**
 * Tells how a texture object is read (driver API).
 */
hipError_t hipTexObjectGetTextureDesc(struct HIP_TEXTURE_DESC *pTexDesc,
                                      hipTextureObject_t texObject);

/**
 * Binds linear memory to a reference.
 */
hipError_t hipBindTexture(size_t *offset,
                          const struct textureReference *tex,
                          const void *devPtr,
                          const struct hipChannelFormatDesc *desc,
                          size_t size);

/**
 * Binds rows of memory to a reference.
 */
hipError_t hipBindTexture2D(size_t *offset,
                            const struct textureReference *tex,
                            const void *devPtr,
                            const struct hipChannelFormatDesc *desc,
                            size_t width,
                            size_t height,
                            size_t pitch);

/**
 * Binds an array to a reference.
 */
hipError_t hipBindTextureToArray(const struct textureReference *tex,
                                 hipArray_t array,
                                 const struct hipChannelFormatDesc *desc);

/**
 * Binds all levels of a mipmapped array to a reference.
 */
hipError_t hipBindTextureToMipmappedArray(const struct textureReference *tex,
                                          hipMipmappedArray_t mipmappedArray,
                                          const struct hipChannelFormatDesc *desc);

/**
 * Unbinds a reference.
 */
hipError_t hipUnbindTexture(const struct textureReference *tex);

/**
 * Tells by how many bytes a reference's memory is misaligned: 0, for a binding starts at an aligned address.
 */
hipError_t hipGetTextureAlignmentOffset(size_t *offset,
                                        const struct textureReference *texref);

/**
 * Gives the reference of a symbol: the symbol itself.
 */
hipError_t hipGetTextureReference(const struct textureReference **texref, const void *symbol);

/**
 * Gives a module's texture reference. It reads floats of one channel until it is told otherwise.
 */
hipError_t hipModuleGetTexRef(struct textureReference **texRef, hipModule_t hmod, const char *name);

/**
 * Sets the format of a reference's elements.
 */
hipError_t hipTexRefSetFormat(struct textureReference *texRef,
                              hipArray_Format fmt,
                              int32_t NumPackedComponents);

/**
 * Sets how a reference is read: `HIP_TRSF_…`.
 */
hipError_t hipTexRefSetFlags(struct textureReference *texRef, uint32_t Flags);

/**
 * Sets the filter.
 */
hipError_t hipTexRefSetFilterMode(struct textureReference *texRef, hipTextureFilterMode fm);

/**
 * Sets the addressing of a dimension.
 */
hipError_t hipTexRefSetAddressMode(struct textureReference *texRef,
                                   int32_t dim,
                                   hipTextureAddressMode am);

/**
 * Sets the greatest anisotropy; other than 0 cannot be bound.
 */
hipError_t hipTexRefSetMaxAnisotropy(struct textureReference *texRef, uint32_t maxAniso);

/**
 * Sets the filter between mipmap levels.
 */
hipError_t hipTexRefSetMipmapFilterMode(struct textureReference *texRef, hipTextureFilterMode fm);

/**
 * Sets the level bias; other than 0 can be bound to mipmapped arrays only.
 */
hipError_t hipTexRefSetMipmapLevelBias(struct textureReference *texRef, float bias);

/**
 * Sets the least and the greatest level.
 */
hipError_t hipTexRefSetMipmapLevelClamp(struct textureReference *texRef,
                                        float minMipMapLevelClamp,
                                        float maxMipMapLevelClamp);

/**
 * Binds an array to a module's reference, with the array's format.
 */
hipError_t hipTexRefSetArray(struct textureReference *tex, hipArray_t array, uint32_t flags);

/**
 * Binds all levels of a mipmapped array to a module's reference, with the array's format.
 */
hipError_t hipTexRefSetMipmappedArray(struct textureReference *texRef,
                                      hipMipmappedArray_t mipmappedArray,
                                      uint32_t Flags);

/**
 * Binds linear memory to a module's reference.
 */
hipError_t hipTexRefSetAddress(size_t *ByteOffset,
                               struct textureReference *texRef,
                               hipDeviceptr_t dptr,
                               size_t bytes);

/**
 * Binds rows of memory to a module's reference.
 */
hipError_t hipTexRefSetAddress2D(struct textureReference *texRef,
                                 const struct HIP_ARRAY_DESCRIPTOR *desc,
                                 hipDeviceptr_t dptr,
                                 size_t Pitch);

/**
 * Tells the memory that a reference is bound to.
 */
hipError_t hipTexRefGetAddress(hipDeviceptr_t *dev_ptr, const struct textureReference *texRef);

/**
 * Tells the array that a reference is bound to.
 */
hipError_t hipTexRefGetArray(hipArray_t *pArray, const struct textureReference *texRef);

/**
 * Tells the mipmapped array that a reference is bound to.
 */
hipError_t hipTexRefGetMipMappedArray(hipMipmappedArray_t *pArray,
                                      const struct textureReference *texRef);

/**
 * Tells the addressing of a dimension.
 */
hipError_t hipTexRefGetAddressMode(hipTextureAddressMode *pam,
                                   const struct textureReference *texRef,
                                   int32_t dim);

/**
 * Tells the filter.
 */
hipError_t hipTexRefGetFilterMode(hipTextureFilterMode *pfm, const struct textureReference *texRef);

/**
 * Tells how a reference is read: `HIP_TRSF_…`.
 */
hipError_t hipTexRefGetFlags(uint32_t *pFlags, const struct textureReference *texRef);

/**
 * Tells the format of a reference's elements.
 */
hipError_t hipTexRefGetFormat(hipArray_Format *pFormat,
                              int32_t *pNumChannels,
                              const struct textureReference *texRef);

/**
 * Tells the greatest anisotropy.
 */
hipError_t hipTexRefGetMaxAnisotropy(int32_t *pmaxAnsio, const struct textureReference *texRef);

/**
 * Tells the filter between mipmap levels.
 */
hipError_t hipTexRefGetMipmapFilterMode(hipTextureFilterMode *pfm,
                                        const struct textureReference *texRef);

/**
 * Tells the level bias.
 */
hipError_t hipTexRefGetMipmapLevelBias(float *pbias, const struct textureReference *texRef);

/**
 * Tells the least and the greatest level.
 */
hipError_t hipTexRefGetMipmapLevelClamp(float *pminMipmapLevelClamp,
                                        float *pmaxMipmapLevelClamp,
                                        const struct textureReference *texRef);

/**
 * Gives the granularity of allocations; the least and the recommended one are the same.
 */
hipError_t hipMemGetAllocationGranularity(size_t *granularity,
                                          const struct hipMemAllocationProp *prop,
                                          hipMemAllocationGranularity_flags option);

/**
 * Reserves a range of addresses.
 */
hipError_t hipMemAddressReserve(void **ptr,
                                size_t size,
                                size_t alignment,
                                void *addr,
                                uint64_t flags);

/**
 * Gives a reserved range back; nothing may be mapped in it.
 */
hipError_t hipMemAddressFree(void *devPtr, size_t size);

/**
 * Allocates memory without an address.
 */
hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle,
                        size_t size,
                        const struct hipMemAllocationProp *prop,
                        uint64_t flags);

/**
 * Lets go of an allocation; mappings keep its memory.
 */
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle);

/**
 * Gives a new handle of the allocation that is mapped at an address.
 */
hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *handle, void *addr);

/**
 * Gives the properties of an allocation.
 */
hipError_t hipMemGetAllocationPropertiesFromHandle(struct hipMemAllocationProp *prop,
                                                   hipMemGenericAllocationHandle_t handle);

/**
 * Maps an allocation into a reserved range.
 */
hipError_t hipMemMap(void *ptr,
                     size_t size,
                     size_t offset,
                     hipMemGenericAllocationHandle_t handle,
                     uint64_t flags);

/**
 * Undoes a mapping, after the device's work has ended.
 */
hipError_t hipMemUnmap(void *ptr, size_t size);

/**
 * Sets which devices may access a mapped range, and how.
 */
hipError_t hipMemSetAccess(void *ptr,
                           size_t size,
                           const struct hipMemAccessDesc *desc,
                           size_t count);

/**
 * Gives how a device may access a mapped address.
 */
hipError_t hipMemGetAccess(uint64_t *flags, const struct hipMemLocation *location, void *ptr);

/**
 * Gives a file descriptor that other processes can import an allocation by.
 */
hipError_t hipMemExportToShareableHandle(void *shareableHandle,
                                         hipMemGenericAllocationHandle_t handle,
                                         hipMemAllocationHandleType handleType,
                                         uint64_t flags);

/**
 * Opens an allocation of another process by its file descriptor.
 */
hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t *handle,
                                           void *osHandle,
                                           hipMemAllocationHandleType shHandleType);

/**
 * Gives the version of the interface, which is 9.0 in every release of HIP.
 *
 * # Safety
 * The places must be null or valid.
 */
hiprtcResult hiprtcVersion(int32_t *major, int32_t *minor);

/**
 * Gives the name of a result.
 *
 * # Safety
 * None. The text is constant.
 */
const char *hiprtcGetErrorString(hiprtcResult result);

/**
 * Creates a program from source and the headers that it includes by name.
 *
 * # Safety
 * `prog` must be null or a valid place, strings terminated, and the arrays as long as `numHeaders` says.
 */
hiprtcResult hiprtcCreateProgram(hiprtcProgram *prog,
                                 const char *src,
                                 const char *name,
                                 int32_t numHeaders,
                                 const char *const *headers,
                                 const char *const *includeNames);

/**
 * Ends a program.
 *
 * # Safety
 * `prog` must be null or a valid place.
 */
hiprtcResult hiprtcDestroyProgram(hiprtcProgram *prog);

/**
 * Adds an expression whose symbol `hiprtcGetLoweredName` will give.
 *
 * # Safety
 * The string must be null or terminated.
 */
hiprtcResult hiprtcAddNameExpression(hiprtcProgram prog, const char *name_expression);

/**
 * Compiles a program. The log tells about a failure.
 *
 * # Safety
 * The options must be `numOptions` terminated strings.
 */
hiprtcResult hiprtcCompileProgram(hiprtcProgram prog,
                                  int32_t numOptions,
                                  const char *const *options);

/**
 * Gives the symbol of a name expression; the text lives as long as the program.
 *
 * # Safety
 * The string must be null or terminated, the place null or valid.
 */
hiprtcResult hiprtcGetLoweredName(hiprtcProgram prog,
                                  const char *name_expression,
                                  const char **lowered_name);

/**
 * Gives the bytes of the log, with its terminator; 0 if there is nothing to say.
 *
 * # Safety
 * The place must be null or valid.
 */
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram prog, size_t *logSizeRet);

/**
 * Gives the log.
 *
 * # Safety
 * The place must be null or as large as `hiprtcGetProgramLogSize` says.
 */
hiprtcResult hiprtcGetProgramLog(hiprtcProgram prog, char *log);

/**
 * Gives the bytes of the code object; 0 for relocatable device code.
 *
 * # Safety
 * The place must be null or valid.
 */
hiprtcResult hiprtcGetCodeSize(hiprtcProgram prog, size_t *codeSizeRet);

/**
 * Gives the code object.
 *
 * # Safety
 * The place must be null or as large as `hiprtcGetCodeSize` says.
 */
hiprtcResult hiprtcGetCode(hiprtcProgram prog, char *code);

/**
 * Gives the bytes of the bitcode of a program compiled with `-fgpu-rdc`.
 *
 * # Safety
 * The place must be null or valid.
 */
hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram prog, size_t *bitcode_size);

/**
 * Gives the bitcode of a program compiled with `-fgpu-rdc`.
 *
 * # Safety
 * The place must be null or as large as `hiprtcGetBitcodeSize` says.
 */
hiprtcResult hiprtcGetBitcode(hiprtcProgram prog, char *bitcode);

/**
 * Creates a link state.
 *
 * # Safety
 * The arrays must hold `numOptions` elements, the place must be null or valid.
 */
hiprtcResult hiprtcLinkCreate(uint32_t numOptions,
                              uint32_t *options,
                              void **optionValues,
                              hiprtcLinkState *hipLinkState);

/**
 * Adds bitcode from memory.
 *
 * # Safety
 * `image` must be null or hold `imageSize` bytes.
 */
hiprtcResult hiprtcLinkAddData(hiprtcLinkState hipLinkState,
                               uint32_t inputType,
                               void *image,
                               size_t imageSize,
                               const char *name,
                               uint32_t numOptions,
                               uint32_t *options,
                               void **optionValues);

/**
 * Adds bitcode from a file.
 *
 * # Safety
 * `filePath` must be null or a terminated string.
 */
hiprtcResult hiprtcLinkAddFile(hiprtcLinkState hipLinkState,
                               uint32_t inputType,
                               const char *filePath,
                               uint32_t numOptions,
                               uint32_t *options,
                               void **optionValues);

/**
 * Links; the code object lives as long as the link state.
 *
 * # Safety
 * The places must be null or valid.
 */
hiprtcResult hiprtcLinkComplete(hiprtcLinkState hipLinkState, void **binOut, size_t *sizeOut);

/**
 * Ends a link state.
 *
 * # Safety
 * None: the handle is checked.
 */
hiprtcResult hiprtcLinkDestroy(hiprtcLinkState hipLinkState);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GNEISS_HIP_H */
