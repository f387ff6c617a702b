/* NVIDIA's host-only occupancy calculator, asked about many kernels at once.
 *
 * The first line of the input is the device, as cudaGetDeviceProperties reports it: major and minor
 * compute capability, threads a block and an SM, registers a block and an SM, and shared memory in
 * bytes: of a block, of an SM, of a block that opts in, reserved for a block. Every line after it is
 * a kernel: threads of a block, registers of a thread, static and dynamic shared memory in bytes,
 * carve-out preference in percent or -1, barriers of a block.
 *
 * Each kernel gives a line: active blocks, blocks allowed by warps, block slots, registers, shared
 * memory and barriers, the bits of the limiting factors, registers and shared memory of a block.
 */

#include <stdio.h>

#include <cuda_occupancy.h>

int main(void)
{
    cudaOccDeviceProp device = {0};
    unsigned long shared, shared_of_sm, shared_opted_in, shared_reserved;
    int threads, registers, carveout, barriers;
    unsigned long static_shared, dynamic_shared;

    if (scanf("%d %d %d %d %d %d %lu %lu %lu %lu", &device.computeMajor, &device.computeMinor,
              &device.maxThreadsPerBlock, &device.maxThreadsPerMultiprocessor, &device.regsPerBlock,
              &device.regsPerMultiprocessor, &shared, &shared_of_sm, &shared_opted_in,
              &shared_reserved) != 10)
        return 2;
    device.warpSize = 32;
    device.numSms = 1;
    device.sharedMemPerBlock = shared;
    device.sharedMemPerMultiprocessor = shared_of_sm;
    device.sharedMemPerBlockOptin = shared_opted_in;
    device.reservedSharedMemPerBlock = shared_reserved;

    while (scanf("%d %d %lu %lu %d %d", &threads, &registers, &static_shared, &dynamic_shared,
                 &carveout, &barriers) == 6) {
        cudaOccFuncAttributes kernel = {0};
        cudaOccDeviceState state = {0};
        cudaOccResult result = {0};
        kernel.maxThreadsPerBlock = device.maxThreadsPerBlock;
        kernel.numRegs = registers;
        kernel.sharedSizeBytes = static_shared;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = dynamic_shared;
        kernel.numBlockBarriers = barriers;
        state.carveoutConfig = carveout;
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads,
                                                    dynamic_shared) != CUDA_OCC_SUCCESS)
            return 3;
        printf("%d %d %d %d %d %d %u %d %lu\n", result.activeBlocksPerMultiprocessor,
               result.blockLimitWarps, result.blockLimitBlocks, result.blockLimitRegs,
               result.blockLimitSharedMem, result.blockLimitBarriers, result.limitingFactors,
               result.allocatedRegistersPerBlock,
               (unsigned long)result.allocatedSharedMemPerBlock);
    }
    return 0;
}
