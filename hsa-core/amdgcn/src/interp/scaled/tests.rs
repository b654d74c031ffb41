//! Values of the conversions.
