//! What fails, and how.

use super::*;

#[test]
fn a_failed_dependency_fails_its_dependents_and_not_the_queue() {
    in_all_modes(|f| {
        let (a, b) = (f.queue(), f.queue());
        let value = f.value(1);
        let add = f.kernel(&DOUBLE_AND_ADD);
        let user = Event::user();
        let first = launch(&a, &add, &[address(&value), 1], std::slice::from_ref(&user));
        let second = launch(
            &b,
            &add,
            &[address(&value), 1],
            std::slice::from_ref(&first),
        );
        let later = launch(&a, &add, &[address(&value), 0], &[]);
        assert!(user.set_user_status(Status(-7)));
        assert!(matches!(
            first.wait(),
            Err(Error::CommandFailed(Status::DEPENDENCY_FAILED))
        ));
        assert!(matches!(
            second.wait(),
            Err(Error::CommandFailed(Status::DEPENDENCY_FAILED))
        ));
        later
            .wait()
            .expect("a command without that dependency runs");
        assert_eq!(value.load(Ordering::SeqCst), 2, "neither dependent ran");
        assert!(matches!(a.finish(), Err(Error::CommandFailed(_))));
        a.finish().expect("an error is told once");
    });
}

#[test]
fn a_fault_fails_everything_outstanding_and_hangs_nobody() {
    in_all_modes(|f| {
        let (a, b) = (f.queue(), f.queue());
        // Kernels may still look at them when the test has ended.
        let never: &'static Value = Box::leak(Box::new(f.value(0)));
        let value = f.value(0);
        let add = f.kernel(&DOUBLE_AND_ADD);
        let wait = f.kernel(&WAIT_FOR_FLAG);
        let fault = f.faulty_kernel(0);
        let outstanding = launch(&b, &wait, &[address(never)], &[]);
        let bad = launch(&a, &fault, &[], &[]);
        // The fault may have come by now, which these calls may say at once.
        let bytes = packed(&[address(&value), 1]);
        let behind = Launch {
            grid: [1, 1, 1],
            block: [1, 1, 1],
            ..one_group(&add, &bytes)
        };
        // SAFETY: the value lives until the end.
        let behind = unsafe { a.enqueue_kernel(&behind, &[]) };
        let Err(Error::Fault(report)) = bad.wait() else {
            panic!("the fault was not told")
        };
        assert_eq!(report.kind, FaultKind::IllegalAddress);
        if let Ok(behind) = behind {
            assert!(matches!(behind.wait(), Err(Error::Fault(_))));
        }
        assert!(matches!(outstanding.wait(), Err(Error::Fault(_))));
        assert!(matches!(a.finish(), Err(Error::Fault(_))));
        assert!(matches!(f.device.synchronize(), Err(Error::Fault(_))));
        assert!(matches!(b.enqueue_marker(&[]), Err(Error::Fault(_))));
        let told = Arc::new(AtomicU32::new(0));
        let note = told.clone();
        a.enqueue_host_function(
            Box::new(move |status| note.store(status.0 as u32, Ordering::SeqCst)),
            true,
            &[],
        )
        .expect("stream callbacks hear of the error")
        .wait()
        .expect_err("it has the device's error");
        assert_eq!(told.load(Ordering::SeqCst) as i32, Status::DEVICE_FAULT.0);
        // A reset device works again.
        f.device.reset();
        let _ = (a.finish(), b.finish());
        launch(&a, &add, &[address(&value), 1], &[])
            .wait()
            .expect("no error");
        assert_eq!(value.load(Ordering::SeqCst), 1);
        never.store(1, Ordering::SeqCst);
    });
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let f = fixture();
    let queue = f.queue();
    let kernel = f.kernel(&DOUBLE_AND_ADD);
    let good = one_group(&kernel, &[0; 16]);
    // SAFETY: none of these is enqueued.
    let refuse =
        |launch: Launch<'_>| unsafe { queue.enqueue_kernel(&launch, &[]) }.expect_err("refused");
    assert!(matches!(
        refuse(Launch {
            grid: [0, 1, 1],
            ..good
        }),
        Error::InvalidValue(_)
    ));
    assert!(matches!(
        refuse(Launch {
            block: [0, 1, 1],
            ..good
        }),
        Error::InvalidValue(_)
    ));
    assert!(matches!(
        refuse(Launch {
            block: [64, 64, 1],
            ..good
        }),
        Error::LaunchLimit { .. }
    ));
    assert!(matches!(
        refuse(Launch {
            block: [u32::MAX; 3],
            ..good
        }),
        Error::LaunchLimit { .. }
    ));
    assert!(matches!(
        refuse(Launch {
            dynamic_shared: u32::MAX,
            ..good
        }),
        Error::LaunchLimit { .. }
    ));
    let short = Launch {
        arguments: Arguments::Packed(&[0; 15]),
        ..good
    };
    assert!(matches!(refuse(short), Error::InvalidValue(_)));
    let null = Launch {
        arguments: Arguments::Pointers(&[std::ptr::null(); 2]),
        ..good
    };
    assert!(matches!(refuse(null), Error::InvalidValue(_)));
    let few = Launch {
        arguments: Arguments::Pointers(&[]),
        ..good
    };
    assert!(matches!(refuse(few), Error::InvalidValue(_)));
}
