#include "reconstruct/family.h"

#include <gtest/gtest.h>

namespace teller {
namespace {

struct Case {
  const char* name;
  const char* family;
};

// Names from real traces of vLLM, SGLang, PyTorch and Nsight Systems.
const Case kCases[] = {
    {"", ""},
    {"aten::add_", "aten::add_"},
    {"aten::view, op_id = 314290", "aten::view"},
    {"ProfilerStep#17", "ProfilerStep"},
    {"Optimizer.step#SGD.step", "Optimizer.step#SGD.step"},
    {"## forward ##", "## forward ##"},
    {"nccl:all_reduce", "nccl:all_reduce"},
    {"execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
     "execute_context_generation"},
    {"execute_context_1(888_788544)_generation_0(0)", "execute_context_generation"},
    {"step[EXTEND bs=15 toks=15360]", "step[EXTEND]"},
    {"step[DECODE bs=32]", "step[DECODE]"},
    {"attention request=req-17", "attention"},
    {"request=7 done", "request=# done"},
    {"iteration 17", "iteration #"},
    {"model.layers.3.self_attn", "model.layers.#.self_attn"},
    {"nn.Module: Linear_12", "nn.Module: Linear"},
    {"/opt/sglang/srt/managers/scheduler.py(2919): _run_batch_inner",
     "scheduler.py: _run_batch_inner"},
    {"torch/utils/_contextlib.py(117): decorate_context", "_contextlib.py: decorate_context"},
    {" object at 0x7f17c92d5f40", " object at #"},
    {"<built-in method append of list object at 0x7f17c92d5f40>",
     "<built-in method append of list>"},
    {"<built-in function isinstance>", "<built-in function isinstance>"},
    {"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
    {"cudaStreamIsCapturing_v10000", "cudaStreamIsCapturing"},
    {"cuLaunchKernel_v2", "cuLaunchKernel_v2"},
    {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"},
    {"nvjet_tst_192x208_64x4_1x1_h_bz_coopB_bias_TNT", "nvjet_tst_h_bz_coopB_bias_TNT"},
    {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn",
     "ampere_bf16_s16816gemm_bf16_ldg8_f2f_stages_tn"},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute",
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize_warpgroupsize_execute"},
    {"Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_LDSB0_AFC1",
     "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs"},
    {"triton_poi_fused_0", "triton_poi_fused"},
    {"triton_red_fused__to_copy_add_mul_3", "triton_red_fused__to_copy_add_mul"},
    {"kernel_unified_attention_2d", "kernel_unified_attention_2d"},
    {"_fwd_kernel_0d1d2d3de4de", "_fwd_kernel"},
    {"void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*, int)", "vllm::rms_norm_kernel"},
    {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(RankData*, int)",
     "vllm::cross_device_reduce_1stage"},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int>(float*)",
     "at::native::CatArrayBatchedCopy"},
    {"void at::native::<unnamed>::vectorized_layer_norm_kernel<float, (bool)0>(int, T2)",
     "at::native::vectorized_layer_norm_kernel"},
    {"void (anonymous namespace)::softmax_warp_forward<float, 10, true>(float*)",
     "softmax_warp_forward"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
     "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>)",
     "at::native::vectorized_elementwise_kernel<at::native::FillFunctor>"},
    {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::"
     "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}> >(int, T3)",
     "at::native::elementwise_kernel<at::native::direct_copy_kernel_cuda>"},
    {"void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2> > >"
     "(flash::Params)",
     "cutlass::device_kernel<flash::FlashAttnFwdSm90>"},
    {"void cub::CUB_200200_800_NS::DeviceRadixSortSingleTileKernel<int>(int*)",
     "cub::CUB_NS::DeviceRadixSortSingleTileKernel"},
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"},
    {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
     "ncclKernel_AllReduce_RING_LL_Sum_float"},
    {"_ZN4vllm15rms_norm_kernelIfEEvPT_i", "vllm::rms_norm_kernel"},
    {"_Znot_a_mangled_name", "_Znot_a_mangled_name"},
    {"load 550e8400-e29b-41d4-a716-446655440000", "load #"},
    {"buffer 0x7f17c92d5f40", "buffer #"},
    {"12345", "#"},
};

TEST(Family, DropsWhatIsVolatile) {
  for (const Case& c : kCases) EXPECT_EQ(family_of(c.name), c.family) << c.name;
}

TEST(Family, LongAndDeepNamesStayLinear) {
  const std::string deep = "void f" + std::string(200000, '<') + "int" + std::string(200000, '>');
  EXPECT_EQ(family_of(deep), "f");
  EXPECT_EQ(family_of(std::string(500000, '<')), std::string(500000, '<'));
  EXPECT_FALSE(family_of("_Z" + std::string(300000, 'N')).empty());
}

TEST(Family, SplitsTheRequestOff) {
  std::string_view name = "attention request=req-1";
  EXPECT_EQ(split_request(name), "req-1");
  EXPECT_EQ(name, "attention");
  std::string_view inner = "a request=b c";
  EXPECT_EQ(split_request(inner), "");
  EXPECT_EQ(inner, "a request=b c");
}

TEST(Family, ANameThatOnlySaysWhoseItIsHasOne) {
  EXPECT_EQ(family_of(" request=r-1"), "request");
  EXPECT_EQ(family_of("a request=r-1"), "a");
  EXPECT_EQ(family_of(""), "");
}

}  // namespace
}  // namespace teller
