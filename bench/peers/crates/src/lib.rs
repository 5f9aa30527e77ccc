//! The C functions of the allocators under names of ours: a cdylib exports nothing that is not written in Rust. Each
//! compiles to a jump.

use std::os::raw::{c_int, c_void};

extern "C" {
    fn mi_version() -> c_int;
}

#[no_mangle]
pub unsafe extern "C" fn acre_peer_mimalloc_allocate(bytes: usize) -> *mut c_void {
    libmimalloc_sys::mi_malloc(bytes).cast()
}

#[no_mangle]
pub unsafe extern "C" fn acre_peer_mimalloc_deallocate(p: *mut c_void) {
    libmimalloc_sys::mi_free(p.cast())
}

#[no_mangle]
pub unsafe extern "C" fn acre_peer_mimalloc_version() -> c_int {
    mi_version()
}

#[no_mangle]
pub unsafe extern "C" fn acre_peer_snmalloc_allocate(bytes: usize) -> *mut c_void {
    snmalloc_sys::sn_malloc(bytes).cast()
}

#[no_mangle]
pub unsafe extern "C" fn acre_peer_snmalloc_deallocate(p: *mut c_void) {
    snmalloc_sys::sn_free(p.cast())
}
