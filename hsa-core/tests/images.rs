//! Images and samplers through the C functions: limits, formats, layouts, transfers, handles.

mod common;

use std::ffi::c_void;

use common::Client;
use gneiss_hsa_api::*;

const RW: u32 = HSA_ACCESS_PERMISSION_RW;

fn description(geometry: u32, extent: [usize; 4]) -> hsa_ext_image_descriptor_t {
    hsa_ext_image_descriptor_t {
        geometry,
        width: extent[0],
        height: extent[1],
        depth: extent[2],
        array_size: extent[3],
        format: hsa_ext_image_format_t {
            channel_type: HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8,
            channel_order: HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
        },
    }
}

fn info<T: Copy + Default>(client: &Client, agent: hsa_agent_t, attribute: u32) -> T {
    let mut value = T::default();
    // SAFETY: the buffer has the attribute's type.
    unsafe { (client.api.hsa_agent_get_info)(agent, attribute, (&raw mut value).cast()) }
        .ok()
        .expect("attribute");
    value
}

/// An image in device memory, and the memory.
fn create(client: &Client, description: &hsa_ext_image_descriptor_t) -> (hsa_ext_image_t, *mut u8) {
    let gpu = client.gpus[0];
    let mut size = hsa_ext_image_data_info_t::default();
    let mut image = hsa_ext_image_t::default();
    // SAFETY: out-parameters and descriptions fit.
    unsafe {
        (client.api.hsa_ext_image_data_get_info)(gpu, description, RW, &mut size)
            .ok()
            .expect("size");
        assert_eq!(size.alignment, 256);
        let pool = client.pool(gpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
        let memory = client.allocate(pool, size.size);
        (client.api.hsa_ext_image_create)(gpu, description, memory.cast(), RW, &mut image)
            .ok()
            .expect("image");
        (image, memory)
    }
}

fn region(offset: [u32; 3], range: [u32; 3]) -> hsa_ext_image_region_t {
    let dim = |[x, y, z]: [u32; 3]| hsa_dim3_t { x, y, z };
    hsa_ext_image_region_t {
        offset: dim(offset),
        range: dim(range),
    }
}

#[test]
fn limits_and_extension_bits_are_those_of_cards_with_images_and_without() {
    let client = Client::new("gfx1030,gfx942");
    let [rdna, cdna3] = [client.gpus[0], client.gpus[1]];
    assert_eq!(
        info::<[u32; 2]>(&client, rdna, HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS),
        [16384; 2]
    );
    assert_eq!(
        info::<[u32; 3]>(&client, rdna, HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS),
        [16384, 16384, 8192]
    );
    assert_eq!(
        info::<u32>(&client, rdna, HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES),
        64
    );
    assert_eq!(
        info::<[u32; 2]>(&client, cdna3, HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS),
        [0; 2]
    );
    assert_eq!(
        info::<u32>(&client, cdna3, HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES),
        0
    );
    let supported = |agent| {
        let mut result = false;
        // SAFETY: the out-parameter fits.
        unsafe {
            (client.api.hsa_agent_extension_supported)(
                HSA_EXTENSION_IMAGES as u16,
                agent,
                1,
                0,
                &mut result,
            )
        }
        .ok()
        .expect("answer");
        result
    };
    assert_eq!(
        [supported(rdna), supported(cdna3), supported(client.cpu)],
        [true, false, false]
    );
    let bit = |agent| info::<[u64; 16]>(&client, agent, HSA_AGENT_INFO_EXTENSIONS)[0] & 2;
    assert_eq!([bit(rdna), bit(cdna3), bit(client.cpu)], [2, 0, 0]);
    let flat = description(HSA_EXT_IMAGE_GEOMETRY_2D, [4, 4, 0, 0]);
    let mut size = hsa_ext_image_data_info_t::default();
    // SAFETY: the description and the out-parameter fit.
    let status = unsafe { (client.api.hsa_ext_image_data_get_info)(cdna3, &flat, RW, &mut size) };
    assert_eq!(status, HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
}

#[test]
fn regions_are_imported_and_exported_with_the_pitches_of_memory() {
    for gpu in ["gfx90a", "gfx1030"] {
        let client = Client::new(gpu);
        let agent = client.gpus[0];
        let (image, memory) = create(
            &client,
            &description(HSA_EXT_IMAGE_GEOMETRY_3D, [5, 3, 2, 0]),
        );
        // Two slices of two rows of three texels, with gaps.
        let mut source = [0u8; 64];
        for (at, byte) in source.iter_mut().enumerate() {
            *byte = at as u8;
        }
        let place = region([1, 1, 0], [3, 2, 2]);
        let mut back = [0xffu8; 24 * 2];
        // SAFETY: the buffers hold the regions with their pitches.
        unsafe {
            (client.api.hsa_ext_image_import)(agent, source.as_ptr().cast(), 16, 32, image, &place)
                .ok()
                .expect("import");
            (client.api.hsa_ext_image_export)(agent, image, back.as_mut_ptr().cast(), 0, 0, &place)
                .ok()
                .expect("export");
        }
        let expected: Vec<u8> = [0u8, 16, 32, 48]
            .into_iter()
            .flat_map(|row| row..row + 12)
            .collect();
        assert_eq!(back[..], expected[..], "{gpu}");
        // Rows are 256 bytes apart, slices three rows.
        // SAFETY: the memory holds the image.
        let texel = unsafe { memory.add(256 * 3 + 256 + 4).read() };
        assert_eq!(texel, 32, "{gpu}");
        let outside = region([3, 0, 0], [3, 1, 1]);
        // SAFETY: nothing is read for a region that leaves the image.
        let status = unsafe {
            (client.api.hsa_ext_image_import)(agent, source.as_ptr().cast(), 0, 0, image, &outside)
        };
        assert_eq!(status, HSA_STATUS_ERROR_INVALID_ARGUMENT);
        // SAFETY: destroyed once, and a second time to see that it is noticed.
        unsafe {
            let destroy = client.api.hsa_ext_image_destroy;
            assert_eq!(destroy(agent, image), HSA_STATUS_SUCCESS);
            assert_eq!(destroy(agent, image), HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        client.free(memory);
    }
}

#[test]
fn clears_and_copies_keep_to_their_regions() {
    let client = Client::new("gfx1030");
    let agent = client.gpus[0];
    let layers = description(HSA_EXT_IMAGE_GEOMETRY_1DA, [4, 0, 0, 3]);
    let (first, first_memory) = create(&client, &layers);
    let (second, second_memory) = create(&client, &layers);
    let whole = region([0; 3], [4, 3, 1]);
    let export = |image| {
        let mut bytes = [0u8; 48];
        // SAFETY: four texels of three layers.
        unsafe {
            (client.api.hsa_ext_image_export)(
                agent,
                image,
                bytes.as_mut_ptr().cast(),
                16,
                0,
                &whole,
            )
        }
        .ok()
        .expect("export");
        bytes
    };
    let clear = |image, colour: [u32; 4], place| {
        // SAFETY: a colour and a region.
        unsafe { (client.api.hsa_ext_image_clear)(agent, image, colour.as_ptr().cast(), &place) }
            .ok()
            .expect("clear");
    };
    clear(first, [1, 2, 3, 4], whole);
    clear(second, [9; 4], whole);
    // The colour saturates, as a store does.
    clear(first, [300, 0, 0, 0], region([2, 1, 0], [1, 2, 1]));
    let dim = |x, y| hsa_dim3_t { x, y, z: 0 };
    // SAFETY: offsets and a range of the images.
    unsafe {
        (client.api.hsa_ext_image_copy)(
            agent,
            first,
            &dim(1, 1),
            second,
            &dim(0, 0),
            &hsa_dim3_t { x: 2, y: 2, z: 1 },
        )
    }
    .ok()
    .expect("copy");
    let bytes = export(second);
    let old = [1u8, 2, 3, 4];
    let new = [255u8, 0, 0, 0];
    let nine = [9u8; 4];
    let row = [old, new, nine, nine].concat();
    assert_eq!(bytes[..16], row[..]);
    assert_eq!(bytes[16..32], row[..]);
    assert_eq!(bytes[32..], [9u8; 16]);
    for (image, memory) in [(first, first_memory), (second, second_memory)] {
        // SAFETY: destroyed once.
        unsafe { (client.api.hsa_ext_image_destroy)(agent, image) }
            .ok()
            .expect("destroy");
        client.free(memory);
    }
}

#[test]
fn handles_point_to_the_descriptors_that_kernels_read() {
    let client = Client::new("gfx1030");
    let agent = client.gpus[0];
    let (image, memory) = create(
        &client,
        &description(HSA_EXT_IMAGE_GEOMETRY_2D, [100, 50, 0, 0]),
    );
    // SAFETY: a handle is the address of 48 bytes.
    let words = unsafe { (image.handle as *const [u32; 12]).read() };
    assert_eq!(words[0], (memory as u64 >> 8) as u32);
    // RDNA 2: format 60 (8_8_8_8 unsigned), width - 1 in two fields, height - 1, x y z w, two dimensions, pitch - 1.
    assert_eq!(words[1] >> 20 & 0x1ff, 60);
    assert_eq!(words[1] >> 30 | (words[2] & 0xfff) << 2, 99);
    assert_eq!(words[2] >> 14 & 0x3fff, 49);
    assert_eq!(words[3], 9 << 28 | 4 | 5 << 3 | 6 << 6 | 7 << 9);
    assert_eq!(words[4], 127);
    assert_eq!(
        words[8..11],
        [
            HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8,
            HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA,
            100
        ]
    );
    let mut sampler = hsa_ext_sampler_t::default();
    let descriptor = hsa_ext_sampler_descriptor_t {
        coordinate_mode: HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED,
        filter_mode: HSA_EXT_SAMPLER_FILTER_MODE_LINEAR,
        address_mode: HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE,
    };
    let bad = hsa_ext_sampler_descriptor_t {
        address_mode: 77,
        ..descriptor
    };
    // SAFETY: descriptions and out-parameters fit; a sampler is 16 bytes; it is destroyed once.
    unsafe {
        let create = client.api.hsa_ext_sampler_create;
        assert_eq!(
            create(agent, &bad, &mut sampler),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        create(agent, &descriptor, &mut sampler)
            .ok()
            .expect("sampler");
        let words = (sampler.handle as *const [u32; 4]).read();
        assert_eq!(words[0], 2 | 2 << 3 | 2 << 6 | 1 << 15);
        assert_eq!(words[2] >> 20 & 15, 0b0101);
        (client.api.hsa_ext_sampler_destroy)(agent, sampler)
            .ok()
            .expect("destroy");
        (client.api.hsa_ext_image_destroy)(agent, image)
            .ok()
            .expect("destroy");
    }
    client.free(memory);
}

#[test]
fn images_that_do_not_fit_their_memory_are_refused() {
    let client = Client::new("gfx90a");
    let agent = client.gpus[0];
    let pool = client.pool(agent, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    // A granule of the pool: the bound of an allocation.
    let memory = client.allocate(pool, 256 * 16);
    let create = |rows: usize, data: *mut u8, layout: u32, pitch: usize| {
        let description = description(HSA_EXT_IMAGE_GEOMETRY_2D, [4, rows, 0, 0]);
        let mut image = hsa_ext_image_t::default();
        // SAFETY: the description and the out-parameter fit.
        let status = unsafe {
            (client.api.hsa_ext_image_create_with_layout)(
                agent,
                &description,
                data.cast::<c_void>(),
                RW,
                layout,
                pitch,
                0,
                &mut image,
            )
        };
        if status == HSA_STATUS_SUCCESS {
            // SAFETY: made above.
            unsafe { (client.api.hsa_ext_image_destroy)(agent, image) }
                .ok()
                .expect("destroy");
        }
        status
    };
    let linear = HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR;
    assert_eq!(create(16, memory, linear, 256), HSA_STATUS_SUCCESS);
    assert_eq!(
        create(17, memory, linear, 256),
        HSA_STATUS_ERROR_INVALID_ALLOCATION
    );
    assert_eq!(
        create(2, memory, linear, 260),
        HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED
    );
    assert_eq!(
        create(2, memory.wrapping_add(16), linear, 256),
        HSA_STATUS_ERROR_INVALID_ARGUMENT
    );
    assert_eq!(
        create(2, memory, HSA_EXT_IMAGE_DATA_LAYOUT_OPAQUE, 256),
        HSA_STATUS_ERROR_INVALID_ARGUMENT
    );
    client.free(memory);
}

#[test]
fn images_have_levels_and_faces_by_our_extension() {
    let client = Client::new("gfx1030");
    let agent = client.gpus[0];
    let get_layout = client.api.gneiss_hsa_image_get_level_layout;
    let create = client.api.gneiss_hsa_image_create.expect("ours");
    let destroy = client.api.hsa_ext_image_destroy;
    // Layers of 8 × 8 texels of four bytes: rows of 256 bytes on every level.
    let faces = description(HSA_EXT_IMAGE_GEOMETRY_2DA, [8, 8, 0, 6]);
    let place = |level| {
        let mut layout = gneiss_hsa_image_level_layout_t::default();
        // SAFETY: the description and the out-parameter fit.
        let status = unsafe { get_layout.expect("ours")(agent, &faces, level, &mut layout) };
        (status, layout.offset, layout.size, layout.row_pitch)
    };
    assert_eq!(place(0), (HSA_STATUS_SUCCESS, 0, 256 * 8 * 6, 256));
    let (_, offset, size, _) = place(3);
    assert_eq!((offset, size), (256 * (8 + 4 + 2) * 6, 256 * 6));
    assert_eq!(place(4).0, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    let pool = client.pool(agent, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    let memory = client.allocate(pool, offset + size);
    let all = gneiss_hsa_image_levels_t {
        levels: 4,
        first_level: 1,
        last_level: 3,
        cube: 1,
    };
    let image = |levels: &gneiss_hsa_image_levels_t, data: *mut u8| {
        let mut image = hsa_ext_image_t::default();
        // SAFETY: the descriptions and the out-parameter fit.
        let status = unsafe { create(agent, &faces, levels, data.cast(), RW, &mut image) };
        (status, image)
    };
    let (status, made) = image(&all, memory);
    assert_eq!(status, HSA_STATUS_SUCCESS);
    // SAFETY: the handle is the address of the descriptor.
    let words = unsafe {
        std::ptr::with_exposed_provenance::<[u32; 8]>(made.handle as usize).read_unaligned()
    };
    // A cube, with the first and the last level.
    assert_eq!((words[3] >> 28, words[3] >> 12 & 0xff), (11, 0x31));
    let missing = gneiss_hsa_image_levels_t {
        last_level: 4,
        ..all
    };
    assert_eq!(image(&missing, memory).0, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    // Memory that ends in the last level.
    assert_eq!(
        image(&all, memory.wrapping_add(4096)).0,
        HSA_STATUS_ERROR_INVALID_ALLOCATION
    );
    // SAFETY: made above.
    unsafe { destroy(agent, made) }.ok().expect("destroy");
    client.free(memory);

    let descriptor = hsa_ext_sampler_descriptor_v2_t {
        coordinate_mode: HSA_EXT_SAMPLER_COORDINATE_MODE_NORMALIZED,
        filter_mode: HSA_EXT_SAMPLER_FILTER_MODE_NEAREST,
        address_modes: [HSA_EXT_SAMPLER_ADDRESSING_MODE_REPEAT; 3],
    };
    let levels = gneiss_hsa_sampler_levels_t {
        filter_mode: HSA_EXT_SAMPLER_FILTER_MODE_LINEAR,
        bias: -0.5,
        least: 1.0,
        greatest: f32::MAX,
    };
    let make = client.api.gneiss_hsa_sampler_create.expect("ours");
    let mut sampler = hsa_ext_sampler_t::default();
    // SAFETY: the descriptions and the out-parameter fit.
    let status = unsafe { make(agent, &descriptor, &levels, &mut sampler) };
    assert_eq!(status, HSA_STATUS_SUCCESS);
    // SAFETY: the handle is the address of the descriptor.
    let words = unsafe {
        std::ptr::with_exposed_provenance::<[u32; 4]>(sampler.handle as usize).read_unaligned()
    };
    // Limits and bias in units of 1/256; the filter between levels.
    assert_eq!(words[1], 0x100 | 0xfff << 12);
    assert_eq!((words[2] & 0x3fff, words[2] >> 26), (0x3f80, 2));
    let unordered = gneiss_hsa_sampler_levels_t {
        bias: f32::NAN,
        ..levels
    };
    // SAFETY: as above; the sampler was made above.
    unsafe {
        assert_eq!(
            make(
                agent,
                &descriptor,
                &unordered,
                &mut hsa_ext_sampler_t::default()
            ),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        (client.api.hsa_ext_sampler_destroy)(agent, sampler)
            .ok()
            .expect("destroy");
    }
}

#[test]
fn the_image_table_has_the_functions_of_its_version() {
    let client = Client::new("gfx1030");
    let mut table = [usize::MAX; 15];
    let images = HSA_EXTENSION_IMAGES as u16;
    // SAFETY: the table has room for more than either version.
    unsafe {
        (client.api.hsa_system_get_extension_table)(images, 1, 0, table.as_mut_ptr().cast())
            .ok()
            .expect("table");
        assert!(
            table[..10]
                .iter()
                .all(|slot| *slot != usize::MAX && *slot != 0)
        );
        assert!(table[10..].iter().all(|slot| *slot == usize::MAX));
        (client.api.hsa_system_get_major_extension_table)(
            images,
            1,
            13 * 8,
            table.as_mut_ptr().cast(),
        )
        .ok()
        .expect("table");
        assert!(
            table[..13]
                .iter()
                .all(|slot| *slot != usize::MAX && *slot != 0)
        );
        assert!(table[13..].iter().all(|slot| *slot == usize::MAX));
        // A caller may have more room than there are functions.
        (client.api.hsa_system_get_major_extension_table)(
            images,
            1,
            15 * 8,
            table.as_mut_ptr().cast(),
        )
        .ok()
        .expect("table");
        assert_ne!(table[13], usize::MAX);
        assert_eq!(table[14], usize::MAX);
    }
}
