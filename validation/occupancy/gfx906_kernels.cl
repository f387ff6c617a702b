// Kernels as the ladders have them, for gfx906: compiled by compile_gfx906.py, run by nobody.

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define X __builtin_amdgcn_workitem_id_x()
#define Y __builtin_amdgcn_workitem_id_y()
#define BX __builtin_amdgcn_workgroup_id_x()
#define BY __builtin_amdgcn_workgroup_id_y()
#define BARRIER() \
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); \
  __builtin_amdgcn_s_barrier()
#define KERNEL(x, y) kernel __attribute__((reqd_work_group_size(x, y, 1))) void

typedef float float4_t __attribute__((ext_vector_type(4)));
typedef half half2_t __attribute__((ext_vector_type(2)));

KERNEL(256, 1) vecadd(global const float *a, global const float *b, global float *c, int n) {
  int i = BX * 256 + X;
  if (i < n) c[i] = a[i] + b[i];
}

KERNEL(256, 1) reduce_tree(global const float *in, global float *out) {
  local float part[256];
  part[X] = in[BX * 256 + X];
  BARRIER();
  for (int stride = 128; stride > 0; stride /= 2) {
    if (X < stride) part[X] += part[X + stride];
    BARRIER();
  }
  if (X == 0) out[BX] = part[0];
}

KERNEL(1024, 1) reduce_vector(global const float4_t *in, global float *out, int n) {
  local float part[16];
  float sum = 0;
  for (int i = X; i < n; i += 1024) {
    float4_t v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  for (int mask = 1; mask < 64; mask *= 2)
    sum += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(
        4 * ((X & 63) ^ mask), __builtin_bit_cast(int, sum)));
  if ((X & 63) == 0) part[X / 64] = sum;
  BARRIER();
  if (X == 0) {
    float all = 0;
    for (int w = 0; w < 16; ++w) all += part[w];
    out[BX] = all;
  }
}

KERNEL(32, 8) transpose_padded(global const float *in, global float *out, int n) {
  local float tile[32][33];
  for (int j = 0; j < 32; j += 8) tile[Y + j][X] = in[(BY * 32 + Y + j) * n + BX * 32 + X];
  BARRIER();
  for (int j = 0; j < 32; j += 8) out[(BX * 32 + Y + j) * n + BY * 32 + X] = tile[X][Y + j];
}

KERNEL(64, 4) gemv_warp(global const float4_t *a, global const float4_t *v, global float *y, int k) {
  float sum = 0;
  int row = BX * 4 + Y;
  for (int i = X; i < k / 4; i += 64) {
    float4_t p = a[row * (k / 4) + i] * v[i];
    sum += p.x + p.y + p.z + p.w;
  }
  for (int mask = 1; mask < 64; mask *= 2)
    sum += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(
        4 * (X ^ mask), __builtin_bit_cast(int, sum)));
  if (X == 0) y[row] = sum;
}

KERNEL(16, 16) gemm_tiled(global const float *a, global const float *b, global float *c, int n) {
  local float ta[16][16], tb[16][16];
  float sum = 0;
  for (int t = 0; t < n / 16; ++t) {
    ta[Y][X] = a[(BY * 16 + Y) * n + t * 16 + X];
    tb[Y][X] = b[(t * 16 + Y) * n + BX * 16 + X];
    BARRIER();
    for (int k = 0; k < 16; ++k) sum += ta[Y][k] * tb[k][X];
    BARRIER();
  }
  c[(BY * 16 + Y) * n + BX * 16 + X] = sum;
}

// A block tile of BM x BN, 8 deep, TM x TN of it a thread.
#define GEMM(name, BM, BN, TM, TN, DX, DY)                                                         \
  KERNEL(DX, DY) name(global const float *a, global const float *b, global float *c, int n) {      \
    local float ta[8][BM], tb[8][BN];                                                              \
    float sum[TM][TN];                                                                             \
    int id = Y * DX + X;                                                                           \
    _Pragma("unroll") for (int i = 0; i < TM; ++i)                                                 \
    _Pragma("unroll") for (int j = 0; j < TN; ++j) sum[i][j] = 0;                                  \
    for (int t = 0; t < n; t += 8) {                                                               \
      for (int e = id; e < 8 * BM; e += DX * DY)                                                   \
        ta[e % 8][e / 8] = a[(BY * BM + e / 8) * n + t + e % 8];                                   \
      for (int e = id; e < 8 * BN; e += DX * DY)                                                   \
        tb[e / BN][e % BN] = b[(t + e / BN) * n + BX * BN + e % BN];                               \
      BARRIER();                                                                                   \
      _Pragma("unroll") for (int k = 0; k < 8; ++k) {                                              \
        float ra[TM], rb[TN];                                                                      \
        _Pragma("unroll") for (int i = 0; i < TM; ++i) ra[i] = ta[k][Y * TM + i];                  \
        _Pragma("unroll") for (int j = 0; j < TN; ++j) rb[j] = tb[k][X * TN + j];                  \
        _Pragma("unroll") for (int i = 0; i < TM; ++i)                                             \
        _Pragma("unroll") for (int j = 0; j < TN; ++j) sum[i][j] += ra[i] * rb[j];                 \
      }                                                                                            \
      BARRIER();                                                                                   \
    }                                                                                              \
    _Pragma("unroll") for (int i = 0; i < TM; ++i)                                                 \
    _Pragma("unroll") for (int j = 0; j < TN; ++j)                                                 \
      c[(BY * BM + Y * TM + i) * n + BX * BN + X * TN + j] = sum[i][j];                            \
  }

GEMM(gemm_32x32_2x2, 32, 32, 2, 2, 16, 16)
GEMM(gemm_64x64_4x4, 64, 64, 4, 4, 16, 16)
GEMM(gemm_64x128_4x8, 64, 128, 4, 8, 16, 16)
GEMM(gemm_128x128_8x8, 128, 128, 8, 8, 16, 16)
GEMM(gemm_64x64_8x8, 64, 64, 8, 8, 8, 8)

// A row of N halves a wave, each lane N / 64 of them, in registers.
#define SOFTMAX(name, N, WAVES)                                                                    \
  KERNEL(64, WAVES) name(global const half2_t *in, global half2_t *out) {                          \
    half2_t v[N / 128];                                                                            \
    int row = BX * WAVES + Y;                                                                      \
    float most = -65504.0f, sum = 0;                                                               \
    _Pragma("unroll") for (int i = 0; i < N / 128; ++i) {                                          \
      v[i] = in[row * (N / 2) + i * 64 + X];                                                       \
      most = __builtin_fmaxf(most, __builtin_fmaxf((float)v[i].x, (float)v[i].y));                 \
    }                                                                                              \
    for (int mask = 1; mask < 64; mask *= 2)                                                       \
      most = __builtin_fmaxf(most, __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(         \
          4 * (X ^ mask), __builtin_bit_cast(int, most))));                                        \
    float e[N / 64];                                                                               \
    _Pragma("unroll") for (int i = 0; i < N / 128; ++i) {                                          \
      e[2 * i] = __builtin_amdgcn_exp2f(((float)v[i].x - most) * 1.442695f);                       \
      e[2 * i + 1] = __builtin_amdgcn_exp2f(((float)v[i].y - most) * 1.442695f);                   \
      sum += e[2 * i] + e[2 * i + 1];                                                              \
    }                                                                                              \
    for (int mask = 1; mask < 64; mask *= 2)                                                       \
      sum += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(                               \
          4 * (X ^ mask), __builtin_bit_cast(int, sum)));                                          \
    float inverse = __builtin_amdgcn_rcpf(sum);                                                    \
    _Pragma("unroll") for (int i = 0; i < N / 128; ++i)                                            \
      out[row * (N / 2) + i * 64 + X] =                                                            \
          (half2_t)((half)(e[2 * i] * inverse), (half)(e[2 * i + 1] * inverse));                   \
  }

SOFTMAX(softmax_512, 512, 4)
SOFTMAX(softmax_2048, 2048, 4)
SOFTMAX(softmax_4096, 4096, 2)
SOFTMAX(softmax_8192, 8192, 1)

// Eight rows of Q a block of 64 lanes, head size D: scores, running maximum and sum, output.
#define ATTENTION(name, D, KEYS)                                                                   \
  KERNEL(64, 2) name(global const float *q, global const float *k, global const float *v,          \
                     global float *o, int n) {                                                     \
    local float tk[KEYS][D], tv[KEYS][D];                                                          \
    float rq[D], ro[D], most = -1e30f, sum = 0;                                                    \
    int row = (BX * 2 + Y) * 64 + X;                                                               \
    _Pragma("unroll") for (int d = 0; d < D; ++d) { rq[d] = q[row * D + d]; ro[d] = 0; }           \
    for (int t = 0; t < n; t += KEYS) {                                                            \
      for (int e = Y * 64 + X; e < KEYS * D; e += 128) {                                           \
        tk[e / D][e % D] = k[t * D + e];                                                           \
        tv[e / D][e % D] = v[t * D + e];                                                           \
      }                                                                                            \
      BARRIER();                                                                                   \
      for (int j = 0; j < KEYS; ++j) {                                                             \
        float s = 0;                                                                               \
        _Pragma("unroll") for (int d = 0; d < D; ++d) s += rq[d] * tk[j][d];                       \
        float m = __builtin_fmaxf(most, s);                                                        \
        float scale = __builtin_amdgcn_exp2f(most - m), p = __builtin_amdgcn_exp2f(s - m);         \
        sum = sum * scale + p;                                                                     \
        _Pragma("unroll") for (int d = 0; d < D; ++d) ro[d] = ro[d] * scale + p * tv[j][d];        \
        most = m;                                                                                  \
      }                                                                                            \
      BARRIER();                                                                                   \
    }                                                                                              \
    _Pragma("unroll") for (int d = 0; d < D; ++d) o[row * D + d] = ro[d] / sum;                    \
  }

ATTENTION(attention_16_32, 16, 32)
ATTENTION(attention_32_60, 32, 60)
ATTENTION(attention_64_30, 64, 30)
