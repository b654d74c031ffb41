//! What AMD's tracers register: callbacks around calls, and records of what devices have done, in each of their three interfaces.

use gneiss_tests::cases;

cases! { "profiler": api_callbacks, activity_callbacks, tracer_callback, callbacks_come_and_go }
