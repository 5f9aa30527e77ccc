"""Tests of acre.py. ACRE_LIBRARY names the library. Exits with 77, and says why, where cffi is not installed."""
import gc
import sys
import threading
import unittest

try:
    import cffi  # noqa: F401  pylint: disable=unused-import
except ImportError:
    print("skipped: cffi (python3-cffi) is not installed")
    sys.exit(77)

import acre


class ArenaTest(unittest.TestCase):
    def test_storage_is_written_and_read(self):
        with acre.Arena() as arena:
            block = arena.allocate(100, 64)
            self.assertEqual(block.address % 64, 0)
            block.view[:5] = b"Moria"
            self.assertEqual(bytes(block.view[:6]), b"Moria" + bytes(block.view[5:6]))
            self.assertTrue(arena.owns(block))
            self.assertGreaterEqual(arena.usage()["used"], 100)
            self.assertIsNone(arena.usage()["live"])
            arena.reset()
            self.assertEqual(arena.usage()["used"], 0)

    def test_a_scratch_takes_back_what_was_allocated_in_it(self):
        with acre.Arena() as arena:
            arena.allocate(100)
            used = arena.usage()["used"]
            with self.assertRaises(KeyError), arena.scratch():
                arena.allocate(5000)
                raise KeyError
            self.assertEqual(arena.usage()["used"], used)

    def test_a_limit_raises_with_a_sentence(self):
        with acre.Arena(limit_bytes=4096) as arena:
            with self.assertRaises(acre.LimitExceeded) as raised:
                arena.allocate(1 << 20)
            self.assertIn("acre::arena: limit exceeded", str(raised.exception))
            self.assertIsInstance(raised.exception, MemoryError)
            with self.assertRaises(acre.BadAlignment):
                arena.allocate(8, 24)

    def test_bad_options(self):
        with self.assertRaises(acre.BadOption):
            acre.Arena(first_block_bytes=1)
        with self.assertRaises(AttributeError):
            acre.Arena(no_such_option=1)

    def test_a_closed_handle_is_refused(self):
        arena = acre.Arena()
        arena.close()
        arena.close()
        with self.assertRaises(ValueError):
            arena.allocate(8)
        with self.assertRaises(ValueError):
            arena.reset()


class PoolTest(unittest.TestCase):
    def test_slots(self):
        with acre.Pool(24) as pool:
            self.assertEqual(pool.slot_bytes, 32)
            slots = [pool.allocate() for _ in range(100)]
            self.assertEqual(pool.usage()["live"], 100)
            for slot in slots:
                pool.free(slot)
            self.assertEqual(pool.usage()["live"], 0)

    def test_any_size_over_an_arena(self):
        with acre.Arena() as arena, acre.MultiPool(upstream=arena) as pool:
            block = pool.allocate(1000)
            self.assertTrue(arena.owns(block))
            pool.free(block)

    def test_threads_share_a_pool(self):
        with acre.ConcurrentMultiPool() as pool:
            def work():
                for size in range(1, 500):
                    block = pool.allocate(size)
                    block.view[size - 1] = 7
                    pool.free(block)
            threads = [threading.Thread(target=work) for _ in range(4)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            self.assertEqual(pool.usage()["live"], 0)


class MultiArenaTest(unittest.TestCase):
    def test_arenas_are_used_again(self):
        for kind in (acre.MultiArena, acre.ConcurrentMultiArena):
            with kind(4, 1024) as arenas:
                blocks = [arenas.allocate(1000) for _ in range(4)]
                self.assertEqual(arenas.busy(), 4)
                with self.assertRaises(acre.OutOfArenas):
                    arenas.allocate(1000)
                for block in blocks:
                    arenas.free(block)
                self.assertEqual(arenas.busy(), 0)


class StatisticsTest(unittest.TestCase):
    def test_counts_and_what_is_live(self):
        with acre.Statistics(live_map=True) as counted:
            block = counted.allocate(100)
            self.assertEqual(counted.live(), [(block.address, 100)])
            counted.free(block)
            self.assertEqual(counted.counts()["bytes"], {"value": 0, "peak": 100, "total": 100})
            self.assertIn("peak 100", counted.report())

    def test_an_upstream_lives_as_long_as_what_is_over_it(self):
        counted = acre.Statistics()
        arena = acre.Arena(upstream=counted)
        arena.allocate(100)
        self.assertEqual(counted.counts()["allocations"]["value"], 1)
        below = counted
        del counted
        gc.collect()
        arena.close()
        self.assertEqual(below.counts()["allocations"]["value"], 0)
        below.close()


if __name__ == "__main__":
    print("acre", acre.version())
    unittest.main()
