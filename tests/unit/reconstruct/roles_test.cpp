// Patterns, role files, and the roles of names from real traces.
#include "reconstruct/roles.h"

#include <fstream>

#include "reconstruct/mangled.h"
#include "reconstruct/role_table.h"
#include "reconstruct/summary.h"
#include "run_builder.h"
#include "run_folder/roles_file.h"

namespace teller {
namespace {

bool fits(const char* pattern, std::string_view name) {
  return RolePattern(pattern).matches(MatchedName(name));
}

TEST(RolePattern, StarsStandForAnyText) {
  EXPECT_TRUE(fits("*", ""));
  EXPECT_TRUE(fits("*", "anything"));
  EXPECT_TRUE(fits("abc", "ABC"));
  EXPECT_FALSE(fits("abc", "abcd"));
  EXPECT_FALSE(fits("abc", "xabc"));
  EXPECT_TRUE(fits("abc*", "abcd"));
  EXPECT_TRUE(fits("*abc", "xabc"));
  EXPECT_TRUE(fits("*abc", "abcabc"));
  EXPECT_TRUE(fits("a*c*e", "abcde"));
  EXPECT_FALSE(fits("a*c*e", "abcd"));
  EXPECT_FALSE(fits("ab*ba", "aba"));  // the parts do not overlap
  EXPECT_TRUE(fits("ab*ba", "abba"));
  EXPECT_TRUE(fits("a**b", "ab"));
  EXPECT_TRUE(fits("*x", "axbx"));
  EXPECT_FALSE(fits("x", ""));
}

// The same by trying every place, which is how it is not to be done.
bool slow(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() != '*') {
    return !name.empty() && name.front() == pattern.front() &&
           slow(pattern.substr(1), name.substr(1));
  }
  return slow(pattern.substr(1), name) || (!name.empty() && slow(pattern, name.substr(1)));
}

TEST(RolePattern, EqualsTheSlowWayOnAllShortTexts) {
  const std::string letters = "ab*";
  for (int code = 1; code < 729; ++code) {
    std::string pattern;
    for (int rest = code; rest > 0; rest /= 3)
      pattern += letters[static_cast<std::size_t>(rest % 3)];
    for (int bits = 1; bits < 128; ++bits) {
      std::string name;
      for (int rest = bits; rest > 1; rest /= 2) name += rest % 2 != 0 ? 'a' : 'b';
      ASSERT_EQ(fits(pattern.c_str(), name), slow(pattern, name)) << pattern << " " << name;
    }
  }
}

TEST(RolePattern, AHostileNameTakesLinearTime) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*aaab";
  EXPECT_FALSE(fits(pattern.c_str(), std::string(1 << 20, 'a')));
}

std::string error_of(std::string_view text) {
  const auto table = RoleTable::parse("mine.txt", text);
  return table.ok() ? "" : table.error().message;
}

TEST(RoleTable, SaysWhereAFileIsWrong) {
  EXPECT_EQ(error_of("role gemm Products\n\nmatch K gemm *x*\n# note\n"), "");
  EXPECT_EQ(error_of("role gemm Products\nmatch K gem *x*\n"),
            "reading roles of mine.txt, line 2: there is no role \"gem\"");
  EXPECT_EQ(error_of("role gemm Products\nmatch X gemm *x*"),
            "reading roles of mine.txt, line 2: \"X\" names no layer: STEP, FE, BE, RT, K or *");
  EXPECT_EQ(error_of("role gemm Products\nmatch K, gemm *x*"),
            "reading roles of mine.txt, line 2: \"K,\" names no layer: STEP, FE, BE, RT, K or *");
  EXPECT_EQ(error_of("role gemm Products\nmatch K gemm\n"),
            "reading roles of mine.txt, line 2: there is no pattern");
  EXPECT_EQ(error_of("roles gemm\n"),
            "reading roles of mine.txt, line 1: \"roles\" is neither \"role\" nor \"match\"");
  EXPECT_EQ(error_of("role gemm Products\nrole gemm Again\n"),
            "reading roles of mine.txt, line 2: there is a role \"gemm\" already");
  EXPECT_EQ(error_of("role gemm\n"),
            "reading roles of mine.txt, line 1: the role \"gemm\" does not say what it is");
  EXPECT_NE(error_of("role Gemm Products\n").find("can't name a role"), std::string::npos);
  EXPECT_NE(error_of("role a A\nmatch K a x\nmatch K a x\n").find("line 3"), std::string::npos);
  EXPECT_NE(error_of("role a A\nmatch K a " + std::string(501, 'x')).find("line 2"),
            std::string::npos);
  EXPECT_NE(error_of(std::string_view("role a A\nmatch K a \0x\n", 22)).find("line 2"),
            std::string::npos);
}

std::string role_of(const RoleTable& table, Layer layer, std::string_view name) {
  const std::uint32_t line = table.find(layer, name);
  return line == RoleTable::kNone ? "" : table.role(line).name;
}

struct Case {
  Layer layer;
  const char* role;
  const char* name;
};

const Case kCases[] = {
    {Layer::kKernel, "gemm", "nvjet_tst_128x16_64x8_1x2_h_bz_TNT"},
    {Layer::kKernel, "gemm", "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x80x128"},
    {Layer::kKernel, "gemm", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"},
    {Layer::kKernel, "gemm", "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn"},
    {Layer::kKernel, "gemm",
     "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x64_32x4_tn_align8>"
     "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x64_32x4_tn_align8::Params)"},
    {Layer::kKernel, "gemm", "void cublasLt::splitKreduce_kernel<32, 16, int, float>(float)"},
    {Layer::kKernel, "gemm", "void deep_gemm::fp8_gemm_kernel<4096u, 7168u>(float*)"},
    {Layer::kKernel, "gemm", "void marlin::Marlin<__nv_bfloat16, 1125899906909960l>(int4*)"},
    {Layer::kKernel, "attention",
     "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<1>>>()"},
    {Layer::kKernel, "attention_decode",
     "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64>>(Flash_fwd_params)"},
    {Layer::kKernel, "attention_decode",
     "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0>()"},
    {Layer::kKernel, "attention_decode", "void vllm::paged_attention_v2_kernel<float>()"},
    {Layer::kKernel, "attention_prefill",
     "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64>>()"},
    {Layer::kKernel, "attention_prefill",
     "void flashinfer::BatchPrefillWithPagedKVCacheKernel<float>()"},
    {Layer::kKernel, "attention_backward",
     "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64>>()"},
    {Layer::kKernel, "attention", "kernel_unified_attention_2d"},
    {Layer::kKernel, "kv_write", "void vllm::reshape_and_cache_flash_kernel<float>(float*)"},
    {Layer::kKernel, "kv_write", "void vllm::concat_and_cache_mla_kernel<float>(float*)"},
    {Layer::kKernel, "state_update", "_causal_conv1d_update_kernel"},
    {Layer::kKernel, "state_update", "selective_state_update"},
    {Layer::kKernel, "state_scan",
     "void selective_scan_fwd_kernel<Selective_Scan_fwd_kernel_traits>()"},
    {Layer::kKernel, "norm", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>()"},
    {Layer::kKernel, "norm", "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>()"},
    {Layer::kKernel, "norm",
     "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>()"},
    {Layer::kKernel, "rope", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>()"},
    {Layer::kKernel, "activation",
     "void vllm::act_and_mul_kernel<c10::BFloat16, &(vllm::silu_kernel)>(c10::BFloat16*)"},
    {Layer::kKernel, "quantise", "void vllm::dynamic_per_token_scaled_fp8_quant_kernel<float>()"},
    {Layer::kKernel, "quantise", "void per_token_group_quant_8bit_kernel<float>()"},
    {Layer::kKernel, "moe", "fused_moe_kernel"},
    {Layer::kKernel, "moe", "void vllm::moe::topkGatingSoftmax<8, 128, 4>()"},
    {Layer::kKernel, "sampling", "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1>()"},
    {Layer::kKernel, "sampling",
     "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
     "at::native::ArgMaxOps<float>>>()"},
    {Layer::kKernel, "softmax", "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8>()"},
    {Layer::kKernel, "reduction", "void at::native::reduce_kernel<512, 1, at::native::MeanOps>()"},
    {Layer::kKernel, "collective", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)"},
    {Layer::kKernel, "collective", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>()"},
    {Layer::kKernel, "collective", "void deep_ep::intranode::dispatch<8, 768>(int4*)"},
    {Layer::kKernel, "point_to_point", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"},
    {Layer::kKernel, "optimizer",
     "void at::native::multi_tensor_apply_kernel<at::native::FusedAdamMathFunctor<float>>()"},
    {Layer::kKernel, "embedding", "void embedding_bag_forward<float>()"},
    {Layer::kKernel, "elementwise",
     "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>()"},
    {Layer::kKernel, "fill",
     "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>()"},
    {Layer::kKernel, "copy",
     "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda>()"},
    {Layer::kKernel, "copy", "Memcpy DtoD (Device -> Device)"},
    {Layer::kKernel, "fill", "Memset (Device)"},
    {Layer::kKernel, "convolution",
     "void cudnn::winograd_nonfused::winogradForwardData4x4<float>()"},
    {Layer::kKernel, "convolution", "volta_scudnn_128x64_relu_interior_nn_v1"},
    {Layer::kKernel, "norm",
     "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0ELb0ELb1ELi1EEEvPT0_PT_"},
    {Layer::kRuntime, "launch", "cudaLaunchKernelExC_v11060"},
    {Layer::kRuntime, "launch", "hipModuleLaunchKernel"},
    {Layer::kRuntime, "graph_launch", "cudaGraphLaunch_v10000"},
    {Layer::kRuntime, "sync", "cudaStreamSynchronize"},
    {Layer::kRuntime, "event", "cudaStreamWaitEvent"},
    {Layer::kRuntime, "query", "cudaEventQuery"},
    {Layer::kRuntime, "copy", "cudaMemcpyAsync"},
    {Layer::kRuntime, "allocate", "cudaMalloc"},
    {Layer::kRuntime, "free", "cudaFree"},
    {Layer::kBackEnd, "gemm", "aten::addmm"},
    {Layer::kBackEnd, "collective", "record_param_comms"},
    {Layer::kFrontEnd, "schedule", "vllm/v1/core/sched/scheduler.py(184): schedule"},
    {Layer::kFrontEnd, "forward", "llama.py(3): forward request=req-17"},
    {Layer::kFrontEnd, "", "torch/nn/modules/container.py(240): __iter__"},
    {Layer::kKernel, "", "my_company_secret"},
};

TEST(RoleTable, NamesOfRealTracesHaveTheirRoles) {
  const auto table = RoleTable::load({});
  ASSERT_TRUE(table.ok()) << table.error().message;
  for (const Case& one : kCases) {
    EXPECT_EQ(role_of(*table, one.layer, one.name), one.role) << one.name;
  }
}

TEST(RoleTable, FilesOfUsersAreAskedFirstTheLastOneBeforeTheOthers) {
  TempDir temp;
  const std::string first = temp.file("first.txt");
  const std::string second = temp.file("second.txt");
  std::ofstream(first) << "role mine Ours\nmatch K mine my_*\nmatch K mine nvjet_*\n";
  std::ofstream(second) << "match K copy my_copy*\n";
  const auto table = RoleTable::load({first, second});
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(role_of(*table, Layer::kKernel, "my_company_secret"), "mine");
  EXPECT_EQ(role_of(*table, Layer::kKernel, "my_copy_kernel"), "copy");
  EXPECT_EQ(role_of(*table, Layer::kKernel, "nvjet_x"), "mine");
  EXPECT_EQ(role_of(*table, Layer::kKernel, "Memset (Device)"), "fill");
  EXPECT_FALSE(RoleTable::load({temp.file("none.txt")}).ok());
}

TEST(Mangled, OutlinesOfNamesThatCannotBeDemangled) {
  const auto outline = outline_of("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bLi64EEEvPT_");
  EXPECT_EQ(outline.name, "aiter::add_rmsnorm_quant_kernel");
  EXPECT_EQ(outline.argument, "");
  const auto wrapped =
      outline_of("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassIE");
  EXPECT_EQ(wrapped.name, "ck_tile::kentry");
  EXPECT_EQ(wrapped.argument, "Rmsnorm2dFwd");
  EXPECT_EQ(outline_of("_Z6kernelPf").name, "kernel");
  EXPECT_EQ(outline_of("_ZN12_GLOBAL__N_16kernelEv").name, "kernel");
  EXPECT_EQ(outline_of("plain").name, "");
  EXPECT_EQ(outline_of("_Z").name, "");
  EXPECT_EQ(outline_of("_Z99999999999999999999999x").name, "");
  EXPECT_EQ(outline_of("_ZN3abcI").name, "abc");
  EXPECT_EQ(outline_of("_ZN3abcILi1").argument, "");
}

TEST(Roles, TheReportSharesTheDevicesTimeByRoleAndNamesTheRest) {
  RunBuilder run;
  run.call("cudaLaunchKernel", 0, 1, 1).kernel("nvjet_tst", 10, 40, 1);
  run.call("cudaLaunchKernel", 2, 3, 2).kernel("my_company_secret", 50, 60, 2);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.report["coverage"]["device_with_role"]["count"], 1);
  EXPECT_EQ(rebuilt.report["coverage"]["device_time_with_role"]["count"], 30);
  EXPECT_EQ(rebuilt.report["coverage"]["device_time_with_role"]["of"], 40);
  EXPECT_EQ(rebuilt.report["roles"]["device"][0]["role"], "gemm");
  EXPECT_EQ(rebuilt.report["roles"]["device_without"][0]["name"], "my_company_secret");
}

TEST(Roles, WorkInFlightIsNoWorkThatWasDone) {
  RunBuilder run;
  run.call("cudaLaunchKernel", 0, 1, 1).kernel("nvjet_tst", 10, 40, 1);
  run.call("cudaLaunchKernel", 50, 51, 2).call("cudaStreamSynchronize", 60, kOpenNs, 3);
  run.kernel("my_company_secret", 55, kOpenNs, 2);
  run.call("cudaLaunchKernel", 70, 71, 4);
  const Rebuilt rebuilt(run);
  ASSERT_NE(rebuilt.node("kernel in flight"), kNoIndex);
  EXPECT_EQ(rebuilt.report["coverage"]["device_with_role"]["count"], 1);
  EXPECT_EQ(rebuilt.report["coverage"]["device_with_role"]["of"], 1);
  EXPECT_EQ(rebuilt.report["roles"]["device"][0]["count"], 1);
  EXPECT_TRUE(rebuilt.report["roles"]["device_without"].empty());
}

TEST(Roles, AFileThatIsTooLargeToReadIsSaid) {
  RunBuilder run;
  const auto table = RoleTable::load({});
  ASSERT_TRUE(table.ok());
  for (const bool large : {false, true}) {
    const std::size_t bytes = kMostRolesBytes + (large ? 1 : 0);
    const auto summary = summarise(run.folder(), Workspace(), {}, {*table, {}, bytes});
    ASSERT_TRUE(summary.ok());
    EXPECT_EQ(summary->json.find("report shows no roles") != std::string::npos, large);
  }
}

TEST(Roles, ANameInSeveralLayersHasAnEntryInEach) {
  ChainsBuilder chains;
  const std::uint32_t other = chains.strings.intern("other");
  const std::uint32_t gemm = chains.strings.intern("nvjet_tst");
  const auto add = [&](Layer layer, std::uint32_t name, std::int64_t length, unsigned flags) {
    chains.nodes.layer.push_back(static_cast<std::uint8_t>(layer));
    chains.nodes.name.push_back(name);
    chains.nodes.begin_ns.push_back(0);
    chains.nodes.end_ns.push_back(length);
    chains.nodes.flags.push_back(static_cast<std::uint16_t>(flags));
  };
  add(Layer::kKernel, gemm, 5, 0);
  add(Layer::kRuntime, gemm, 7, 0);
  add(Layer::kKernel, other, 1, kNodeOpen);
  add(Layer::kKernel, gemm, 6, 0);
  const auto table = RoleTable::load({});
  ASSERT_TRUE(table.ok());
  const std::vector<RoleEntry> entries = find_roles(chains, *table);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].layer, static_cast<std::uint8_t>(Layer::kRuntime));
  EXPECT_EQ(entries[0].time_ns, 7);
  EXPECT_EQ(entries[1].name, other);
  EXPECT_EQ(entries[1].count, 0u);
  EXPECT_EQ(entries[2].count, 2u);
  EXPECT_EQ(entries[2].time_ns, 11);
}

}  // namespace
}  // namespace teller
