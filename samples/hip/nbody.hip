// Bodies that attract each other, some steps through time, compared with the same steps on the host.
#include "check.hpp"

constexpr int block = 64;
constexpr float softening = 1e-2f;
constexpr float time_step = 1e-3f;

// position.w is the mass. Each block loads a block of bodies into LDS at a time.
__global__ void step(const float4 *positions, float4 *next_positions, float4 *velocities, int bodies) {
    __shared__ float4 others[block];
    const int index = blockIdx.x * block + threadIdx.x;
    const float4 position = positions[index];

    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int start = 0; start < bodies; start += block) {
        others[threadIdx.x] = positions[start + threadIdx.x];
        __syncthreads();
        for (int other = 0; other < block; ++other) {
            const float dx = others[other].x - position.x;
            const float dy = others[other].y - position.y;
            const float dz = others[other].z - position.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            const float pull = others[other].w * inverse * inverse * inverse;
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        __syncthreads();
    }

    float4 velocity = velocities[index];
    velocity.x += ax * time_step;
    velocity.y += ay * time_step;
    velocity.z += az * time_step;
    velocities[index] = velocity;
    next_positions[index] = make_float4(position.x + velocity.x * time_step, position.y + velocity.y * time_step,
                                        position.z + velocity.z * time_step, position.w);
}

struct Body {
    double position[3];
    double velocity[3];
    double mass;
};

static void host_step(std::vector<Body> &bodies) {
    const std::vector<Body> before = bodies;
    for (Body &body : bodies) {
        double acceleration[3] = {};
        for (const Body &other : before) {
            double distance[3], square = softening;
            for (int axis = 0; axis < 3; ++axis) {
                distance[axis] = other.position[axis] - body.position[axis];
                square += distance[axis] * distance[axis];
            }
            for (int axis = 0; axis < 3; ++axis) {
                acceleration[axis] += other.mass * distance[axis] / (square * std::sqrt(square));
            }
        }
        for (int axis = 0; axis < 3; ++axis) {
            body.velocity[axis] += acceleration[axis] * time_step;
            body.position[axis] += body.velocity[axis] * time_step;
        }
    }
}

int main() {
    constexpr int count = 512, steps = 4;
    static_assert(count % block == 0, "every block is full");
    sample::Random random(5);
    std::vector<float4> positions(count);
    std::vector<Body> bodies(count);
    for (int index = 0; index < count; ++index) {
        const float x = random.uniform(-1.0f, 1.0f), y = random.uniform(-1.0f, 1.0f), z = random.uniform(-1.0f, 1.0f);
        const float mass = random.uniform(0.1f, 1.0f);
        positions[index] = make_float4(x, y, z, mass);
        bodies[index] = Body{{x, y, z}, {0.0, 0.0, 0.0}, mass};
    }

    sample::DeviceBuffer<float4> even(positions), odd(count);
    sample::DeviceBuffer<float4> velocities(std::vector<float4>(count, make_float4(0.0f, 0.0f, 0.0f, 0.0f)));
    for (int number = 0; number < steps; ++number) {
        const bool forth = number % 2 == 0;
        step<<<count / block, block>>>((forth ? even : odd).get(), (forth ? odd : even).get(), velocities.get(), count);
        sample::check_launch();
        host_step(bodies);
    }

    const std::vector<float4> result = (steps % 2 == 0 ? even : odd).read();
    const std::vector<float4> speeds = velocities.read();
    bool passed = true;
    for (int index = 0; index < count; ++index) {
        const float got_position[3] = {result[index].x, result[index].y, result[index].z};
        const float got_velocity[3] = {speeds[index].x, speeds[index].y, speeds[index].z};
        for (int axis = 0; axis < 3; ++axis) {
            passed = passed && sample::close(got_position[axis], bodies[index].position[axis], 1e-4, 1e-5);
            passed = passed && sample::close(got_velocity[axis], bodies[index].velocity[axis], 1e-3, 1e-4);
        }
    }
    std::printf("nbody: %d bodies, %d steps\n", count, steps);
    return sample::verdict("nbody", passed);
}
