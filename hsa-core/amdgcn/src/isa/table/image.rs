//! Rows of the image encodings.
//!
//! See [`super`] for how to read a row.

use super::*;

#[rustfmt::skip]
rows! {
    /// Images, to GFX11. Bit 7 of the code is the opcode bit that GFX10 keeps apart.
    MIMG

    image_sample = [SAMPLER] @ GFX9_IMAGE|GFX10 0x20, GFX11_ALL 0x1b;
    image_sample_cl = [SAMPLER] @ GFX9_OLD|GFX10 0x21, GFX11_ALL 0x40;
    image_sample_d = [SAMPLER] @ GFX9_OLD|GFX10 0x22, GFX11_ALL 0x1c;
    image_sample_d_cl = [SAMPLER] @ GFX9_OLD|GFX10 0x23, GFX11_ALL 0x41;
    image_sample_l = [SAMPLER] @ GFX9_OLD|GFX10 0x24, GFX11_ALL 0x1d;
    image_sample_b = [SAMPLER] @ GFX9_OLD|GFX10 0x25, GFX11_ALL 0x1e;
    image_sample_b_cl = [SAMPLER] @ GFX9_OLD|GFX10 0x26, GFX11_ALL 0x42;
    image_sample_lz = [SAMPLER] @ GFX9_OLD|GFX10 0x27, GFX11_ALL 0x1f;
    image_sample_c = [SAMPLER] @ GFX9_OLD|GFX10 0x28, GFX11_ALL 0x20;
    image_sample_c_cl = [SAMPLER] @ GFX9_OLD|GFX10 0x29, GFX11_ALL 0x43;
    image_sample_c_d = [SAMPLER] @ GFX9_OLD|GFX10 0x2a, GFX11_ALL 0x21;
    image_sample_c_d_cl = [SAMPLER] @ GFX9_OLD|GFX10 0x2b, GFX11_ALL 0x44;
    image_sample_c_l = [SAMPLER] @ GFX9_OLD|GFX10 0x2c, GFX11_ALL 0x22;
    image_sample_c_b = [SAMPLER] @ GFX9_OLD|GFX10 0x2d, GFX11_ALL 0x23;
    image_sample_c_b_cl = [SAMPLER] @ GFX9_OLD|GFX10 0x2e, GFX11_ALL 0x45;
    image_sample_c_lz = [SAMPLER] @ GFX9_OLD|GFX10 0x2f, GFX11_ALL 0x24;
    image_sample_o = [SAMPLER] @ GFX9_OLD|GFX10 0x30, GFX11_ALL 0x25;
    image_sample_cl_o = [SAMPLER] @ GFX9_OLD|GFX10 0x31, GFX11_ALL 0x46;
    image_sample_d_o = [SAMPLER] @ GFX9_OLD|GFX10 0x32, GFX11_ALL 0x26;
    image_sample_d_cl_o = [SAMPLER] @ GFX9_OLD|GFX10 0x33, GFX11_ALL 0x47;
    image_sample_l_o = [SAMPLER] @ GFX9_OLD|GFX10 0x34, GFX11_ALL 0x27;
    image_sample_b_o = [SAMPLER] @ GFX9_OLD|GFX10 0x35, GFX11_ALL 0x28;
    image_sample_b_cl_o = [SAMPLER] @ GFX9_OLD|GFX10 0x36, GFX11_ALL 0x48;
    image_sample_lz_o = [SAMPLER] @ GFX9_OLD|GFX10 0x37, GFX11_ALL 0x29;
    image_sample_c_o = [SAMPLER] @ GFX9_OLD|GFX10 0x38, GFX11_ALL 0x2a;
    image_sample_c_cl_o = [SAMPLER] @ GFX9_OLD|GFX10 0x39, GFX11_ALL 0x49;
    image_sample_c_d_o = [SAMPLER] @ GFX9_OLD|GFX10 0x3a, GFX11_ALL 0x2b;
    image_sample_c_d_cl_o = [SAMPLER] @ GFX9_OLD|GFX10 0x3b, GFX11_ALL 0x4a;
    image_sample_c_l_o = [SAMPLER] @ GFX9_OLD|GFX10 0x3c, GFX11_ALL 0x2c;
    image_sample_c_b_o = [SAMPLER] @ GFX9_OLD|GFX10 0x3d, GFX11_ALL 0x2d;
    image_sample_c_b_cl_o = [SAMPLER] @ GFX9_OLD|GFX10 0x3e, GFX11_ALL 0x4b;
    image_sample_c_lz_o = [SAMPLER] @ GFX9_OLD|GFX10 0x3f, GFX11_ALL 0x2e;
    image_gather4 = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x40, GFX11_ALL 0x2f;
    image_gather4_cl = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x41, GFX11_ALL 0x60;
    image_gather4h = [SAMPLER GATHER4] @ GFX9_OLD 0x42, GFX10 0x61, GFX11_ALL 0x90;
    image_gather4_l = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x44, GFX11_ALL 0x30;
    image_gather4_b = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x45, GFX11_ALL 0x31;
    image_gather4_b_cl = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x46, GFX11_ALL 0x61;
    image_gather4_lz = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x47, GFX11_ALL 0x32;
    image_gather4_c = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x48, GFX11_ALL 0x33;
    image_gather4_c_cl = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x49, GFX11_ALL 0x62;
    image_gather4_c_l = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x4c, GFX11_ALL 0x63;
    image_gather4_c_b = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x4d, GFX11_ALL 0x64;
    image_gather4_c_b_cl = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x4e, GFX11_ALL 0x65;
    image_gather4_c_lz = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x4f, GFX11_ALL 0x34;
    image_gather4_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x50, GFX11_ALL 0x35;
    image_gather4_cl_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x51;
    image_gather4_l_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x54;
    image_gather4_b_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x55;
    image_gather4_b_cl_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x56;
    image_gather4_lz_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x57, GFX11_ALL 0x36;
    image_gather4_c_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x58;
    image_gather4_c_cl_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x59;
    image_gather4_c_l_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x5c;
    image_gather4_c_b_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x5d;
    image_gather4_c_b_cl_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x5e;
    image_gather4_c_lz_o = [SAMPLER GATHER4] @ GFX9_OLD|GFX10 0x5f, GFX11_ALL 0x37;
    image_get_lod = [SAMPLER] @ GFX9_OLD|GFX10 0x60, GFX11_ALL 0x38;
    image_sample_cd = [SAMPLER] @ GFX9_OLD|GFX10 0x68;
    image_sample_cd_cl = [SAMPLER] @ GFX9_OLD|GFX10 0x69;
    image_sample_c_cd = [SAMPLER] @ GFX9_OLD|GFX10 0x6a;
    image_sample_c_cd_cl = [SAMPLER] @ GFX9_OLD|GFX10 0x6b;
    image_sample_cd_o = [SAMPLER] @ GFX9_OLD|GFX10 0x6c;
    image_sample_cd_cl_o = [SAMPLER] @ GFX9_OLD|GFX10 0x6d;
    image_sample_c_cd_o = [SAMPLER] @ GFX9_OLD|GFX10 0x6e;
    image_sample_c_cd_cl_o = [SAMPLER] @ GFX9_OLD|GFX10 0x6f;
    image_sample_d_g16 = [SAMPLER] @ GFX10 0xa2, GFX11_ALL 0x39;
    image_sample_d_cl_g16 = [SAMPLER] @ GFX10 0xa3, GFX11_ALL 0x5f;
    image_sample_c_d_g16 = [SAMPLER] @ GFX10 0xaa, GFX11_ALL 0x3a;
    image_sample_c_d_cl_g16 = [SAMPLER] @ GFX10 0xab, GFX11_ALL 0x54;
    image_sample_d_o_g16 = [SAMPLER] @ GFX10 0xb2, GFX11_ALL 0x3b;
    image_sample_d_cl_o_g16 = [SAMPLER] @ GFX10 0xb3, GFX11_ALL 0x55;
    image_sample_c_d_o_g16 = [SAMPLER] @ GFX10 0xba, GFX11_ALL 0x3c;
    image_sample_c_d_cl_o_g16 = [SAMPLER] @ GFX10 0xbb, GFX11_ALL 0x56;
    image_sample_cd_g16 = [SAMPLER] @ GFX10 0xe8;
    image_sample_cd_cl_g16 = [SAMPLER] @ GFX10 0xe9;
    image_sample_c_cd_g16 = [SAMPLER] @ GFX10 0xea;
    image_sample_c_cd_cl_g16 = [SAMPLER] @ GFX10 0xeb;
    image_sample_cd_o_g16 = [SAMPLER] @ GFX10 0xec;
    image_sample_cd_cl_o_g16 = [SAMPLER] @ GFX10 0xed;
    image_sample_c_cd_o_g16 = [SAMPLER] @ GFX10 0xee;
    image_sample_c_cd_cl_o_g16 = [SAMPLER] @ GFX10 0xef;
    image_load = @ GFX9_IMAGE|GFX10_11 0x00;
    image_load_mip = @ GFX9_IMAGE|GFX10_11 0x01;
    image_load_pck = @ GFX9_IMAGE|GFX10_11 0x02;
    image_load_pck_sgn = @ GFX9_IMAGE|GFX10_11 0x03;
    image_load_mip_pck = @ GFX9_IMAGE|GFX10_11 0x04;
    image_load_mip_pck_sgn = @ GFX9_IMAGE|GFX10_11 0x05;
    image_store = [STORE] @ GFX11_ALL 0x06, GFX9_IMAGE|GFX10 0x08;
    image_store_mip = [STORE] @ GFX11_ALL 0x07, GFX9_IMAGE|GFX10 0x09;
    image_store_pck = [STORE] @ GFX11_ALL 0x08, GFX9_IMAGE|GFX10 0x0a;
    image_store_mip_pck = [STORE] @ GFX11_ALL 0x09, GFX9_IMAGE|GFX10 0x0b;
    image_atomic_swap = [ATOMIC] @ GFX11_ALL 0x0a, GFX9_IMAGE 0x10, GFX10 0x0f;
    image_atomic_cmpswap = [ATOMIC] @ GFX11_ALL 0x0b, GFX9_IMAGE 0x11, GFX10 0x10;
    image_atomic_add = [ATOMIC] @ GFX11_ALL 0x0c, GFX9_IMAGE 0x12, GFX10 0x11;
    image_atomic_sub = [ATOMIC] @ GFX11_ALL 0x0d, GFX9_IMAGE 0x13, GFX10 0x12;
    image_atomic_smin = [ATOMIC] @ GFX11_ALL 0x0e, GFX9_IMAGE|GFX10 0x14;
    image_atomic_umin = [ATOMIC] @ GFX11_ALL 0x0f, GFX9_IMAGE|GFX10 0x15;
    image_atomic_smax = [ATOMIC] @ GFX11_ALL 0x10, GFX9_IMAGE|GFX10 0x16;
    image_atomic_umax = [ATOMIC] @ GFX11_ALL 0x11, GFX9_IMAGE|GFX10 0x17;
    image_atomic_and = [ATOMIC] @ GFX11_ALL 0x12, GFX9_IMAGE|GFX10 0x18;
    image_atomic_or = [ATOMIC] @ GFX11_ALL 0x13, GFX9_IMAGE|GFX10 0x19;
    image_atomic_xor = [ATOMIC] @ GFX11_ALL 0x14, GFX9_IMAGE|GFX10 0x1a;
    image_atomic_inc = [ATOMIC] @ GFX11_ALL 0x15, GFX9_IMAGE|GFX10 0x1b;
    image_atomic_dec = [ATOMIC] @ GFX11_ALL 0x16, GFX9_IMAGE|GFX10 0x1c;
    image_get_resinfo = @ GFX11_ALL 0x17, GFX9_IMAGE|GFX10 0x0e;
    image_msaa_load = [GATHER4] @ GFX11_ALL 0x18;
    image_atomic_fcmpswap = [ATOMIC] @ GFX10 0x1d;
    image_atomic_fmin = [ATOMIC] @ GFX10 0x1e;
    image_atomic_fmax = [ATOMIC] @ GFX10 0x1f;
    image_msaa_load = @ GFX10_RAY 0x80;
    image_bvh_intersect_ray = [BVH] @ GFX11_ALL 0x19, GFX10_RAY 0xe6;
    image_bvh64_intersect_ray = [BVH] @ GFX11_ALL 0x1a, GFX10_RAY 0xe7;
}

#[rustfmt::skip]
rows! {
    /// Images without sampler, GFX12.
    VIMAGE

    image_load = @ GFX12 0x00;
    image_load_mip = @ GFX12 0x01;
    image_load_pck = @ GFX12 0x02;
    image_load_pck_sgn = @ GFX12 0x03;
    image_load_mip_pck = @ GFX12 0x04;
    image_load_mip_pck_sgn = @ GFX12 0x05;
    image_store = [STORE] @ GFX12 0x06;
    image_store_mip = [STORE] @ GFX12 0x07;
    image_store_pck = [STORE] @ GFX12 0x08;
    image_store_mip_pck = [STORE] @ GFX12 0x09;
    image_atomic_swap = [ATOMIC] @ GFX12 0x0a;
    image_atomic_cmpswap = [ATOMIC] @ GFX12 0x0b;
    image_atomic_add_uint = [ATOMIC] @ GFX12 0x0c;
    image_atomic_sub_uint = [ATOMIC] @ GFX12 0x0d;
    image_atomic_min_int = [ATOMIC] @ GFX12 0x0e;
    image_atomic_min_uint = [ATOMIC] @ GFX12 0x0f;
    image_atomic_max_int = [ATOMIC] @ GFX12 0x10;
    image_atomic_max_uint = [ATOMIC] @ GFX12 0x11;
    image_atomic_and = [ATOMIC] @ GFX12 0x12;
    image_atomic_or = [ATOMIC] @ GFX12 0x13;
    image_atomic_xor = [ATOMIC] @ GFX12 0x14;
    image_atomic_inc_uint = [ATOMIC] @ GFX12 0x15;
    image_atomic_dec_uint = [ATOMIC] @ GFX12 0x16;
    image_get_resinfo = @ GFX12 0x17;
    image_bvh_intersect_ray B128 = [BVH] @ GFX12 0x19;
    image_bvh64_intersect_ray B128 = [BVH] @ GFX12 0x1a;
    image_bvh_dual_intersect_ray B320 = [BVH] @ GFX12 0x80;
    image_bvh8_intersect_ray B320 = [BVH] @ GFX12 0x81;
    image_atomic_add_flt = [ATOMIC] @ GFX12 0x83;
    image_atomic_min_flt = [ATOMIC] @ GFX12 0x84;
    image_atomic_max_flt = [ATOMIC] @ GFX12 0x85;
    image_atomic_pk_add_f16 = [ATOMIC] @ GFX12 0x86;
    image_atomic_pk_add_bf16 = [ATOMIC] @ GFX12 0x87;
}

#[rustfmt::skip]
rows! {
    /// Images with sampler, GFX12.
    VSAMPLE

    image_msaa_load = [GATHER4] @ GFX12 0x18;
    image_sample = [SAMPLER] @ GFX12 0x1b;
    image_sample_d = [SAMPLER] @ GFX12 0x1c;
    image_sample_l = [SAMPLER] @ GFX12 0x1d;
    image_sample_b = [SAMPLER] @ GFX12 0x1e;
    image_sample_lz = [SAMPLER] @ GFX12 0x1f;
    image_sample_c = [SAMPLER] @ GFX12 0x20;
    image_sample_c_d = [SAMPLER] @ GFX12 0x21;
    image_sample_c_l = [SAMPLER] @ GFX12 0x22;
    image_sample_c_b = [SAMPLER] @ GFX12 0x23;
    image_sample_c_lz = [SAMPLER] @ GFX12 0x24;
    image_sample_o = [SAMPLER] @ GFX12 0x25;
    image_sample_d_o = [SAMPLER] @ GFX12 0x26;
    image_sample_l_o = [SAMPLER] @ GFX12 0x27;
    image_sample_b_o = [SAMPLER] @ GFX12 0x28;
    image_sample_lz_o = [SAMPLER] @ GFX12 0x29;
    image_sample_c_o = [SAMPLER] @ GFX12 0x2a;
    image_sample_c_d_o = [SAMPLER] @ GFX12 0x2b;
    image_sample_c_l_o = [SAMPLER] @ GFX12 0x2c;
    image_sample_c_b_o = [SAMPLER] @ GFX12 0x2d;
    image_sample_c_lz_o = [SAMPLER] @ GFX12 0x2e;
    image_gather4 = [SAMPLER GATHER4] @ GFX12 0x2f;
    image_gather4_l = [SAMPLER GATHER4] @ GFX12 0x30;
    image_gather4_b = [SAMPLER GATHER4] @ GFX12 0x31;
    image_gather4_lz = [SAMPLER GATHER4] @ GFX12 0x32;
    image_gather4_c = [SAMPLER GATHER4] @ GFX12 0x33;
    image_gather4_c_lz = [SAMPLER GATHER4] @ GFX12 0x34;
    image_gather4_o = [SAMPLER GATHER4] @ GFX12 0x35;
    image_gather4_lz_o = [SAMPLER GATHER4] @ GFX12 0x36;
    image_gather4_c_lz_o = [SAMPLER GATHER4] @ GFX12 0x37;
    image_get_lod = [SAMPLER] @ GFX12 0x38;
    image_sample_d_g16 = [SAMPLER] @ GFX12 0x39;
    image_sample_c_d_g16 = [SAMPLER] @ GFX12 0x3a;
    image_sample_d_o_g16 = [SAMPLER] @ GFX12 0x3b;
    image_sample_c_d_o_g16 = [SAMPLER] @ GFX12 0x3c;
    image_sample_cl = [SAMPLER] @ GFX12 0x40;
    image_sample_d_cl = [SAMPLER] @ GFX12 0x41;
    image_sample_b_cl = [SAMPLER] @ GFX12 0x42;
    image_sample_c_cl = [SAMPLER] @ GFX12 0x43;
    image_sample_c_d_cl = [SAMPLER] @ GFX12 0x44;
    image_sample_c_b_cl = [SAMPLER] @ GFX12 0x45;
    image_sample_cl_o = [SAMPLER] @ GFX12 0x46;
    image_sample_d_cl_o = [SAMPLER] @ GFX12 0x47;
    image_sample_b_cl_o = [SAMPLER] @ GFX12 0x48;
    image_sample_c_cl_o = [SAMPLER] @ GFX12 0x49;
    image_sample_c_d_cl_o = [SAMPLER] @ GFX12 0x4a;
    image_sample_c_b_cl_o = [SAMPLER] @ GFX12 0x4b;
    image_sample_c_d_cl_g16 = [SAMPLER] @ GFX12 0x54;
    image_sample_d_cl_o_g16 = [SAMPLER] @ GFX12 0x55;
    image_sample_c_d_cl_o_g16 = [SAMPLER] @ GFX12 0x56;
    image_sample_d_cl_g16 = [SAMPLER] @ GFX12 0x5f;
    image_gather4_cl = [SAMPLER GATHER4] @ GFX12 0x60;
    image_gather4_b_cl = [SAMPLER GATHER4] @ GFX12 0x61;
    image_gather4_c_cl = [SAMPLER GATHER4] @ GFX12 0x62;
    image_gather4_c_l = [SAMPLER GATHER4] @ GFX12 0x63;
    image_gather4_c_b = [SAMPLER GATHER4] @ GFX12 0x64;
    image_gather4_c_b_cl = [SAMPLER GATHER4] @ GFX12 0x65;
    image_gather4h = [SAMPLER GATHER4] @ GFX12 0x90;
}
