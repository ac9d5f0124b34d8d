/// Judging makes many small allocations, which are slow in the C library of static builds.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    mcp_conform::main()
}
