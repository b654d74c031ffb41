// rocSPARSE: a sparse matrix times a vector, and times a dense matrix, against the host.
#include "client.hpp"

#include <cmath>

extern "C" {
int rocsparse_create_handle(void **handle);
int rocsparse_destroy_handle(void *handle);
int rocsparse_create_mat_descr(void **description);
int rocsparse_destroy_mat_descr(void *description);
int rocsparse_scsrmv(void *handle, int operation, int rows, int columns, int entries, const float *alpha, const void *description,
                     const float *values, const int *row_starts, const int *column_numbers, void *information, const float *x,
                     const float *beta, float *y);
int rocsparse_scsrmm(void *handle, int operation_a, int operation_b, int rows, int width, int columns, int entries, const float *alpha,
                     const void *description, const float *values, const int *row_starts, const int *column_numbers, const float *b, int ldb,
                     const float *beta, float *c, int ldc);
}

namespace {

constexpr int no_transpose = 111;

void near(const std::vector<float> &got, const std::vector<double> &want) {
    REQUIRE(got.size() == want.size());
    for (std::size_t index = 0; index < want.size(); ++index) {
        REQUIRE(std::fabs(got[index] - want[index]) <= 1e-4 * (1 + std::fabs(want[index])));
    }
}

} // namespace

int main() {
    constexpr int rows = 1500, columns = 1100, width = 17;
    std::vector<int> row_starts(1, 0), column_numbers;
    std::vector<float> values;
    unsigned state = 1;
    const auto random = [&state] {
        state = state * 1664525u + 1013904223u;
        return state >> 8;
    };
    const auto number = [&random] { return static_cast<float>(random() % 2001) / 1000.0f - 1.0f; };
    for (int row = 0; row < rows; ++row) {
        // Empty rows, short ones, and a few that are nearly full.
        const int length = row % 11 == 0 ? 0 : row % 97 == 0 ? columns / 2 : static_cast<int>(random() % 12);
        for (int entry = 0; entry < length; ++entry) {
            const int column = entry * (columns / length) + static_cast<int>(random() % static_cast<unsigned>(columns / length));
            column_numbers.push_back(column);
            values.push_back(number());
        }
        row_starts.push_back(static_cast<int>(values.size()));
    }
    const int entries = static_cast<int>(values.size());
    std::vector<float> x(columns), y(rows), b(columns * width), c(rows * width);
    for (auto *vector : {&x, &y, &b, &c}) {
        for (float &value : *vector) {
            value = number();
        }
    }
    const float alpha = 1.5f, beta = -0.5f;
    std::vector<double> vector(rows), matrix(rows * width);
    for (int row = 0; row < rows; ++row) {
        const auto product = [&](const float *dense) {
            double sum = 0;
            for (int entry = row_starts[row]; entry < row_starts[row + 1]; ++entry) {
                sum += static_cast<double>(values[entry]) * dense[column_numbers[entry]];
            }
            return alpha * sum;
        };
        vector[row] = product(x.data()) + beta * y[row];
        for (int column = 0; column < width; ++column) {
            matrix[column * rows + row] = product(&b[column * columns]) + beta * c[column * rows + row];
        }
    }

    void *handle = nullptr, *description = nullptr;
    CHECK(rocsparse_create_handle(&handle));
    CHECK(rocsparse_create_mat_descr(&description));
    const Device<int> device_starts(row_starts), device_columns(column_numbers);
    const Device<float> device_values(values), device_x(x), device_y(y), device_b(b), device_c(c);
    CHECK(rocsparse_scsrmv(handle, no_transpose, rows, columns, entries, &alpha, description, device_values.get(), device_starts.get(),
                           device_columns.get(), nullptr, device_x.get(), &beta, device_y.get()));
    near(device_y.read(), vector);
    CHECK(rocsparse_scsrmm(handle, no_transpose, no_transpose, rows, width, columns, entries, &alpha, description, device_values.get(),
                           device_starts.get(), device_columns.get(), device_b.get(), columns, &beta, device_c.get(), rows));
    near(device_c.read(), matrix);
    CHECK(rocsparse_destroy_mat_descr(description));
    CHECK(rocsparse_destroy_handle(handle));
    std::printf("%d entries\n", entries);
    return 0;
}
