//! Messages: requests that are longer than one packet.
//!
//! The first word of each part is a descriptor: bit 0 begins a message, bit 1 ends it, bits 5 to 7 count the payload words (at most 7), bits 8
//! to 63 are the message's number, which the host assigns at the beginning and device code gives with each further part.

/// Words of a message that is still acceptable (8 MiB).
const LIMIT: usize = 1 << 20;
/// Messages that may be open at a time.
const OPEN_LIMIT: usize = 1 << 17;

/// The messages that are being received.
#[derive(Debug, Default)]
pub(super) struct Messages {
    open: Vec<Option<Vec<u64>>>,
    free: Vec<usize>,
    spare: Vec<Vec<u64>>,
}

impl Messages {
    /// Takes a part. `Ok(Some)`: the message is complete. Else the descriptor for the next part is in `slot[0]`.
    pub(super) fn receive(
        &mut self,
        slot: &mut [u64; 8],
    ) -> Result<Option<Vec<u64>>, &'static str> {
        let descriptor = slot[0];
        let begins = descriptor & 1 != 0;
        let ends = descriptor & 2 != 0;
        let words = (descriptor >> 5 & 7) as usize;
        let number = if begins {
            let number = match self.free.pop() {
                Some(number) => number,
                None if self.open.len() < OPEN_LIMIT => {
                    self.open.push(None);
                    self.open.len() - 1
                }
                None => return Err("too many messages at a time"),
            };
            self.open[number] = Some(self.spare.pop().unwrap_or_default());
            slot[0] = (descriptor & 0xfe) | (number as u64) << 8;
            number
        } else {
            usize::try_from(descriptor >> 8).map_err(|_| "no such message")?
        };
        let Some(message) = self.open.get_mut(number).and_then(Option::as_mut) else {
            return Err("a part of a message that has not begun");
        };
        message.extend_from_slice(&slot[1..=words]);
        let too_long = message.len() > LIMIT;
        if !ends && !too_long {
            return Ok(None);
        }
        self.free.push(number);
        let message = self.open[number].take().ok_or("no such message")?;
        if too_long {
            Err("the message is too long")
        } else {
            Ok(Some(message))
        }
    }

    /// Keeps the memory of a message for the next one.
    pub(super) fn recycle(&mut self, mut message: Vec<u64>) {
        if self.spare.len() < 256 && message.capacity() <= 4096 {
            message.clear();
            self.spare.push(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_by_the_number_that_the_host_gave() {
        let mut messages = Messages::default();
        let mut first = [1 | 2 << 5, 10, 11, 99, 99, 99, 99, 99];
        let mut second = [1 | 1 << 5, 20, 99, 99, 99, 99, 99, 99];
        assert_eq!(messages.receive(&mut first), Ok(None));
        assert_eq!(messages.receive(&mut second), Ok(None));
        assert_ne!(first[0] >> 8, second[0] >> 8);
        assert_eq!(first[0] & 1, 0, "the begin flag is taken back");
        let mut end = [(first[0] & !0xe0) | 2 | 7 << 5, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(
            messages.receive(&mut end),
            Ok(Some(vec![10, 11, 1, 2, 3, 4, 5, 6, 7]))
        );
        assert!(messages.receive(&mut end).is_err(), "it has ended");
        let mut end = [(second[0] & !0xe0) | 2, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(messages.receive(&mut end), Ok(Some(vec![20])));
        let mut whole = [3 | 1 << 5, 5, 0, 0, 0, 0, 0, 0];
        assert_eq!(messages.receive(&mut whole), Ok(Some(vec![5])));
        let mut unknown = [!1, 0, 0, 0, 0, 0, 0, 0];
        assert!(messages.receive(&mut unknown).is_err());
    }
}
