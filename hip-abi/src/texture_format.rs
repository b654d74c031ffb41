//! Channel formats of textures: HIP's several descriptions of them, and what the command-queue runtime calls them.

use gneiss_clr::{ChannelOrder, ChannelType, ImageGeometry};

use crate::{
    array::{Shape, desc_of, format_size, known_format_of},
    enums::*,
    error::*,
    fail,
    types::*,
};

/// The format of a texture's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ElementFormat {
    /// Format of a channel.
    pub channel: hipArray_Format,
    /// 1, 2 or 4.
    pub channels: u32,
}

impl ElementFormat {
    /// From the bits of each channel.
    pub(crate) fn of_desc(desc: &hipChannelFormatDesc) -> HipResult<Self> {
        let (channel, channels) = known_format_of(desc)?;
        Ok(Self { channel, channels })
    }

    /// From a driver API format.
    pub(crate) fn of_driver(channel: hipArray_Format, channels: u32) -> HipResult<Self> {
        if format_size(channel).is_none() || !matches!(channels, 1 | 2 | 4) {
            return fail!(
                hipErrorInvalidValue,
                "format {channel:#x} with {channels} channels does not exist"
            );
        }
        Ok(Self { channel, channels })
    }

    /// From the format of a resource view.
    pub(crate) fn of_view(view: hipResourceViewFormat) -> HipResult<Self> {
        const CHANNELS: [hipArray_Format; 8] = [
            HIP_AD_FORMAT_UNSIGNED_INT8,
            HIP_AD_FORMAT_SIGNED_INT8,
            HIP_AD_FORMAT_UNSIGNED_INT16,
            HIP_AD_FORMAT_SIGNED_INT16,
            HIP_AD_FORMAT_UNSIGNED_INT32,
            HIP_AD_FORMAT_SIGNED_INT32,
            HIP_AD_FORMAT_HALF,
            HIP_AD_FORMAT_FLOAT,
        ];
        // The numbers go through these, each with 1, 2 and 4 channels.
        let at = view.wrapping_sub(hipResViewFormatUnsignedChar1) as usize;
        match CHANNELS.get(at / 3) {
            Some(channel) => Ok(Self {
                channel: *channel,
                channels: [1, 2, 4][at % 3],
            }),
            None => fail!(
                hipErrorInvalidValue,
                "resource view format {view:#x} is not supported"
            ),
        }
    }

    /// The format of a view that leaves the elements as they are.
    pub(crate) fn view(self) -> hipResourceViewFormat {
        (hipResViewFormatUnsignedChar1..=hipResViewFormatFloat4)
            .find(|view| Self::of_view(*view) == Ok(self))
            .unwrap_or(hipResViewFormatNone)
    }

    /// The bits of each channel.
    pub(crate) fn desc(self) -> hipChannelFormatDesc {
        desc_of(self.channel, self.channels)
    }

    /// Bytes of an element.
    pub(crate) fn size(self) -> usize {
        format_size(self.channel).unwrap_or(0) * self.channels as usize
    }

    /// What an image's texels are; `normalised` integers of 8 and 16 bits read as floats.
    pub(crate) fn channel_type(self, normalised: bool) -> ChannelType {
        match (self.channel, normalised) {
            (HIP_AD_FORMAT_UNSIGNED_INT8, true) => ChannelType::Unorm8,
            (HIP_AD_FORMAT_SIGNED_INT8, true) => ChannelType::Snorm8,
            (HIP_AD_FORMAT_UNSIGNED_INT16, true) => ChannelType::Unorm16,
            (HIP_AD_FORMAT_SIGNED_INT16, true) => ChannelType::Snorm16,
            (HIP_AD_FORMAT_UNSIGNED_INT8, false) => ChannelType::Unsigned8,
            (HIP_AD_FORMAT_SIGNED_INT8, false) => ChannelType::Signed8,
            (HIP_AD_FORMAT_UNSIGNED_INT16, false) => ChannelType::Unsigned16,
            (HIP_AD_FORMAT_SIGNED_INT16, false) => ChannelType::Signed16,
            (HIP_AD_FORMAT_UNSIGNED_INT32, _) => ChannelType::Unsigned32,
            (HIP_AD_FORMAT_SIGNED_INT32, _) => ChannelType::Signed32,
            (HIP_AD_FORMAT_HALF, _) => ChannelType::Half,
            _ => ChannelType::Float,
        }
    }

    /// An image's channels; only four of them can have the sRGB curve.
    pub(crate) fn channel_order(self, srgb: bool) -> ChannelOrder {
        match self.channels {
            1 => ChannelOrder::R,
            2 => ChannelOrder::Rg,
            _ if srgb => ChannelOrder::Srgba,
            _ => ChannelOrder::Rgba,
        }
    }
}

/// Dimensionality of an array.
pub(crate) fn geometry(shape: &Shape) -> ImageGeometry {
    let layered = shape.flags & hipArrayLayered != 0;
    if shape.flags & hipArrayCubemap != 0 {
        return ImageGeometry::Cube;
    }
    match (shape.height != 0, shape.depth != 0) {
        (false, true) => ImageGeometry::D1Array,
        (true, true) if layered => ImageGeometry::D2Array,
        (true, true) => ImageGeometry::D3,
        (true, false) => ImageGeometry::D2,
        (false, false) => ImageGeometry::D1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn view_formats_name_channels_and_their_number() {
        let of = |view| ElementFormat::of_view(view).map(|found| (found.channel, found.channels));
        assert_eq!(
            of(hipResViewFormatUnsignedChar4),
            Ok((HIP_AD_FORMAT_UNSIGNED_INT8, 4))
        );
        assert_eq!(
            of(hipResViewFormatSignedShort2),
            Ok((HIP_AD_FORMAT_SIGNED_INT16, 2))
        );
        assert_eq!(of(hipResViewFormatHalf1), Ok((HIP_AD_FORMAT_HALF, 1)));
        assert_eq!(of(hipResViewFormatFloat4), Ok((HIP_AD_FORMAT_FLOAT, 4)));
        assert_eq!(of(hipResViewFormatNone), Err(hipErrorInvalidValue));
        assert_eq!(of(hipResViewFormatFloat4 + 1), Err(hipErrorInvalidValue));
        for view in hipResViewFormatUnsignedChar1..=hipResViewFormatFloat4 {
            let format = ElementFormat::of_view(view).expect("supported");
            assert_eq!(format.view(), view);
            assert_eq!(ElementFormat::of_desc(&format.desc()), Ok(format));
        }
    }

    #[test]
    fn only_small_integers_are_normalised() {
        let float = ElementFormat {
            channel: HIP_AD_FORMAT_UNSIGNED_INT32,
            channels: 1,
        };
        assert_eq!(float.channel_type(true), ChannelType::Unsigned32);
        let byte = ElementFormat {
            channel: HIP_AD_FORMAT_SIGNED_INT8,
            channels: 4,
        };
        assert_eq!(byte.channel_type(true), ChannelType::Snorm8);
        assert_eq!(byte.channel_type(false), ChannelType::Signed8);
        assert_eq!(byte.channel_order(true), ChannelOrder::Srgba);
    }
}
