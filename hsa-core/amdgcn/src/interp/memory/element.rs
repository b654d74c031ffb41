//! What one lane loads or stores.

/// An element that a lane loads into its registers.
pub trait Load {
    /// Bytes in memory.
    const BYTES: usize;
    /// Destination registers.
    const DWORDS: usize;
    /// The result depends on the old value of the register (16-bit results that keep the other half).
    const MERGES: bool = false;

    /// Loads one element; register r of the lane is `dst + r * stride` (in dwords).
    ///
    /// # Safety
    /// `src` is readable for `BYTES`, the registers are writable.
    unsafe fn lane(src: *const u8, dst: *mut u32, stride: usize);

    /// Loads sixteen consecutive elements into sixteen lanes.
    ///
    /// # Safety
    /// As for `lane`, for all of them.
    #[inline(always)]
    unsafe fn group(src: *const u8, dst: *mut u32, stride: usize) {
        for i in 0..16 {
            // SAFETY: by the caller.
            unsafe { Self::lane(src.add(i * Self::BYTES), dst.add(i), stride) };
        }
    }
}

/// An element that a lane stores from its registers.
pub trait Store {
    /// Bytes in memory.
    const BYTES: usize;
    /// Source registers.
    const DWORDS: usize;

    /// Stores one element.
    ///
    /// # Safety
    /// `dst` is writable for `BYTES`, the registers are readable.
    unsafe fn lane(src: *const u32, stride: usize, dst: *mut u8);

    /// Stores the elements of sixteen lanes one after the other.
    ///
    /// # Safety
    /// As for `lane`, for all of them.
    #[inline(always)]
    unsafe fn group(src: *const u32, stride: usize, dst: *mut u8) {
        for i in 0..16 {
            // SAFETY: by the caller.
            unsafe { Self::lane(src.add(i), stride, dst.add(i * Self::BYTES)) };
        }
    }
}

/// N dwords.
#[derive(Debug)]
pub struct Dwords<const N: usize>;

impl<const N: usize> Load for Dwords<N> {
    const BYTES: usize = 4 * N;
    const DWORDS: usize = N;

    #[inline(always)]
    unsafe fn lane(src: *const u8, dst: *mut u32, stride: usize) {
        for r in 0..N {
            // SAFETY: by the caller.
            unsafe { *dst.add(r * stride) = src.cast::<u32>().add(r).read_unaligned() };
        }
    }

    #[inline(always)]
    unsafe fn group(src: *const u8, dst: *mut u32, stride: usize) {
        // Register by register, so that the compiler sees strided vector loads.
        for r in 0..N {
            let mut row = [0u32; 16];
            for (i, value) in row.iter_mut().enumerate() {
                // SAFETY: by the caller.
                *value = unsafe { src.cast::<u32>().add(i * N + r).read_unaligned() };
            }
            // SAFETY: by the caller.
            unsafe { dst.add(r * stride).cast::<[u32; 16]>().write_unaligned(row) };
        }
    }
}

impl<const N: usize> Store for Dwords<N> {
    const BYTES: usize = 4 * N;
    const DWORDS: usize = N;

    #[inline(always)]
    unsafe fn lane(src: *const u32, stride: usize, dst: *mut u8) {
        for r in 0..N {
            // SAFETY: by the caller.
            unsafe {
                dst.cast::<u32>()
                    .add(r)
                    .write_unaligned(*src.add(r * stride))
            };
        }
    }

    #[inline(always)]
    unsafe fn group(src: *const u32, stride: usize, dst: *mut u8) {
        // SAFETY: by the caller.
        unsafe {
            let mut rows = [[0u32; 16]; N];
            for (r, row) in rows.iter_mut().enumerate() {
                *row = src.add(r * stride).cast::<[u32; 16]>().read_unaligned();
            }
            for i in 0..16 {
                for (r, row) in rows.iter().enumerate() {
                    dst.cast::<u32>().add(i * N + r).write_unaligned(row[i]);
                }
            }
        }
    }
}

macro_rules! small_load {
    ($(#[$doc:meta] $name:ident: $ty:ty, |$value:ident| $wide:expr;)*) => { $(
        #[$doc]
        #[derive(Debug)]
        pub struct $name;

        impl Load for $name {
            const BYTES: usize = size_of::<$ty>();
            const DWORDS: usize = 1;

            #[inline(always)]
            unsafe fn lane(src: *const u8, dst: *mut u32, _stride: usize) {
                // SAFETY: by the caller.
                unsafe {
                    let $value = src.cast::<$ty>().read_unaligned();
                    *dst = $wide;
                }
            }
        }
    )* };
}

small_load! {
    /// A byte, zero-extended.
    U8: u8, |v| u32::from(v);
    /// A byte, sign-extended.
    I8: i8, |v| i32::from(v).cast_unsigned();
    /// 16 bits, zero-extended.
    U16: u16, |v| u32::from(v);
    /// 16 bits, sign-extended.
    I16: i16, |v| i32::from(v).cast_unsigned();
}

macro_rules! half_load {
    ($(#[$doc:meta] $name:ident: $ty:ty, $shift:literal, |$value:ident| $half:expr;)*) => { $(
        #[$doc]
        #[derive(Debug)]
        pub struct $name;

        impl Load for $name {
            const BYTES: usize = size_of::<$ty>();
            const DWORDS: usize = 1;
            const MERGES: bool = true;

            #[inline(always)]
            unsafe fn lane(src: *const u8, dst: *mut u32, _stride: usize) {
                // SAFETY: by the caller.
                unsafe {
                    let $value = src.cast::<$ty>().read_unaligned();
                    let half: u16 = $half;
                    *dst = *dst & !(0xffff << $shift) | u32::from(half) << $shift;
                }
            }
        }
    )* };
}

half_load! {
    /// A byte, zero-extended, into the low half.
    U8D16: u8, 0, |v| u16::from(v);
    /// A byte, zero-extended, into the high half.
    U8D16Hi: u8, 16, |v| u16::from(v);
    /// A byte, sign-extended, into the low half.
    I8D16: i8, 0, |v| i16::from(v).cast_unsigned();
    /// A byte, sign-extended, into the high half.
    I8D16Hi: i8, 16, |v| i16::from(v).cast_unsigned();
    /// 16 bits into the low half.
    B16D16: u16, 0, |v| v;
    /// 16 bits into the high half.
    B16D16Hi: u16, 16, |v| v;
}

macro_rules! small_store {
    ($(#[$doc:meta] $name:ident: $ty:ty, $shift:literal;)*) => { $(
        #[$doc]
        #[derive(Debug)]
        pub struct $name;

        impl Store for $name {
            const BYTES: usize = size_of::<$ty>();
            const DWORDS: usize = 1;

            #[inline(always)]
            unsafe fn lane(src: *const u32, _stride: usize, dst: *mut u8) {
                // SAFETY: by the caller.
                unsafe { dst.cast::<$ty>().write_unaligned((*src >> $shift) as $ty) };
            }
        }
    )* };
}

small_store! {
    /// The low byte.
    B8: u8, 0;
    /// The low byte of the high half.
    B8Hi: u8, 16;
    /// The low half.
    B16: u16, 0;
    /// The high half.
    B16Hi: u16, 16;
}
